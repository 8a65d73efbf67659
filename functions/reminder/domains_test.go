package reminder

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/people/maildomain"
	"lamplighter.dev/shared/testkit/apitest"
)

const aDay = 24 * time.Hour

// domainFixture is an organization that demands single sign-on for a domain that it has proven now.
type domainFixture struct {
	*apitest.Fixture
	dns *apitest.Names
	org string
}

func newDomainFixture(t *testing.T) *domainFixture {
	t.Helper()
	f := &domainFixture{Fixture: apitest.New(t), dns: &apitest.Names{}}
	f.Resolver = f.dns
	f.org = f.addOrganization("ada", "example.com")
	return f
}

// addOrganization makes an organization of an owner, which demands single sign-on for a domain.
func (f *domainFixture) addOrganization(owner, domain string) string {
	f.Helper()
	org := id.New("org", f.Platform.Clock.Now())
	f.Organization(org, "Org of "+owner)
	f.Join(org, owner, grant.Owner)
	f.Put(identity.DirectoryKey(org), map[string]string{"org": org})
	now := f.Platform.Clock.Now()
	f.Put(identity.SSOKey(org), map[string]any{
		"entityID": "https://idp.test", "enforced": true, "sessionHours": 12, "version": 1,
		"domains": []maildomain.Domain{{Name: domain, Token: "t1", Verified: now, Checked: now}},
	})
	f.Put(maildomain.ClaimKey(domain), maildomain.Claim{Org: org, Since: now})
	f.Write(identity.DemandSSO(org, []string{domain}, 12)...)
	return org
}

func (f *domainFixture) publish(domain string) {
	d := maildomain.Domain{Name: domain, Token: "t1"}
	f.dns.Publish(d.TXTName(), d.TXTValue())
}

func (f *domainFixture) verify() Domains {
	f.Helper()
	return apitest.Value(VerifyDomains(f.Context(), f.Platform))(f)
}

// verifyDays lets so many days pass, with a run on each of them, and returns the sums.
func (f *domainFixture) verifyDays(n int) Domains {
	f.Helper()
	var sum Domains
	for range n {
		f.Clock.Advance(aDay)
		got := f.verify()
		sum.Looked, sum.Warned, sum.Lapsed = sum.Looked+got.Looked, sum.Warned+got.Warned, sum.Lapsed+got.Lapsed
	}
	return sum
}

func (f *domainFixture) domain() maildomain.Domain {
	f.Helper()
	return apitest.Read[ssoSetup](f.Fixture, identity.SSOKey(f.org)).Domains[0]
}

// demanded returns the domains that the organization demands single sign-on of: in its record, and for each request.
func (f *domainFixture) demanded(org string) (record, access []string) {
	f.Helper()
	return apitest.Read[identity.OrganisationRecord](f.Fixture, identity.OrganisationKey(org)).SSO,
		apitest.Read[identity.Access](f.Fixture, identity.AccessKey(org)).SSODomains
}

// mailsOf returns the texts of the queued mails of a template.
func (f *domainFixture) mailsOf(template mail.Template) []string {
	f.Helper()
	var out []string
	for _, m := range f.Mails() {
		if m.Template == template {
			out = append(out, m.To+" "+m.Data["domains"])
		}
	}
	return out
}

func TestVerifyDomains_LooksEachWeek(t *testing.T) {
	f := newDomainFixture(t)
	f.publish("example.com")
	if got := f.verifyDays(28); got != (Domains{Looked: 4}) {
		t.Errorf("in four weeks: %+v", got)
	}
	if d := f.domain(); !d.IsVerified() || f.Platform.Clock.Now().Sub(d.Checked) != 0 || len(f.Mails()) != 0 {
		t.Errorf("%+v, mails %v", d, f.Mails())
	}
}

func TestVerifyDomains_WarnsOwnersForAWeekBeforeADomainLapses(t *testing.T) {
	f := newDomainFixture(t)
	f.Join(f.org, "bob", grant.Admin)
	if got := f.verifyDays(7); got != (Domains{Looked: 1, Warned: 1}) {
		t.Fatalf("in the first week: %+v", got)
	}
	if got := f.mailsOf(mail.DomainsMissing); len(got) != 1 ||
		!strings.Contains(got[0], "ada@example.com - example com, lapses on ") {
		t.Errorf("mails %q", got)
	}
	if got := f.verifyDays(6); got != (Domains{Looked: 6, Warned: 6}) || !f.domain().IsVerified() {
		t.Errorf("in the week of warning: %+v, %+v", got, f.domain())
	}
	if record, access := f.demanded(f.org); len(record) != 1 || len(access) != 1 {
		t.Errorf("while it is warned: %v, %v", record, access)
	}
	if got := f.verifyDays(1); got != (Domains{Looked: 1, Lapsed: 1}) || f.domain().IsVerified() {
		t.Errorf("when the week is over: %+v, %+v", got, f.domain())
	}
	f.hasLapsed()
	if got := f.verifyDays(30); got != (Domains{}) {
		t.Errorf("afterwards: %+v", got)
	}
}

// hasLapsed checks all that depends on a domain that has lapsed.
func (f *domainFixture) hasLapsed() {
	f.Helper()
	if record, access := f.demanded(f.org); record != nil || access != nil {
		f.Errorf("single sign-on is still demanded: %v, %v", record, access)
	}
	_, err := table.Read[maildomain.Claim](f.Anywhere(), f.Table, maildomain.ClaimKey("example.com"))
	if !fault.Is(err, fault.NotFound) {
		f.Errorf("the claim was kept: %v", err)
	}
	if got := f.mailsOf(mail.DomainsLapsed); !slices.Equal(got, []string{"ada@example.com - example com\n"}) {
		f.Errorf("mails %q", got)
	}
	if row := f.LastAudited(f.org); row.Action != "lapseMailDomain" || row.Target != f.org || row.Actor != "system" {
		f.Errorf("row %+v", row)
	}
	if s := apitest.Read[map[string]any](f.Fixture, identity.SSOKey(f.org)); s["entityID"] != "https://idp.test" {
		f.Errorf("the settings lost their provider: %v", s)
	}
}

func TestVerifyDomains_ARecordThatComesBackEndsTheWarning(t *testing.T) {
	f := newDomainFixture(t)
	f.verifyDays(10)
	f.publish("example.com")
	if got := f.verifyDays(7); got != (Domains{Looked: 1}) {
		t.Errorf("after the record came back: %+v", got)
	}
	if d := f.domain(); !d.IsVerified() || !d.Missing.IsZero() || d.Reason != "" {
		t.Errorf("%+v", d)
	}
}

func TestVerifyDomains_ATemporaryFailureIsNoLapse(t *testing.T) {
	name := maildomain.Domain{Name: "example.com"}.TXTName()
	t.Run("of a domain whose record was there", func(t *testing.T) {
		f := newDomainFixture(t)
		f.dns.Silence(name, true)
		if got := f.verifyDays(60); got.Warned != 0 || got.Lapsed != 0 || !f.domain().IsVerified() {
			t.Errorf("%+v, %+v", got, f.domain())
		}
	})
	t.Run("of a domain whose record is missing, until DNS says so again", func(t *testing.T) {
		f := newDomainFixture(t)
		f.verifyDays(8)
		f.dns.Silence(name, true)
		if got := f.verifyDays(30); got.Lapsed != 0 || got.Warned != 30 || !f.domain().IsVerified() {
			t.Errorf("while DNS is silent: %+v, %+v", got, f.domain())
		}
		f.dns.Silence(name, false)
		if got := f.verifyDays(1); got.Lapsed != 1 {
			t.Errorf("when DNS answers: %+v", got)
		}
	})
}

// A laptop runs the loop at each start.
func TestVerifyDomains_ManyRunsADayMailOnce(t *testing.T) {
	f := newDomainFixture(t)
	f.verifyDays(7)
	for range 5 {
		f.Clock.Advance(time.Hour)
		f.verify()
	}
	if got := f.mailsOf(mail.DomainsMissing); len(got) != 1 {
		t.Errorf("mails %q", got)
	}
}

func TestVerifyDomains_GoesOnAfterOneFails(t *testing.T) {
	f := newDomainFixture(t)
	other := f.addOrganization("eve", "eve.test")
	f.Put(identity.SSOKey(f.org), map[string]any{"domains": "none", "version": 1})
	f.Clock.Advance(7 * aDay)
	got, err := VerifyDomains(f.Context(), f.Platform)
	if err == nil || !strings.Contains(err.Error(), f.org) || got != (Domains{Looked: 1, Warned: 1}) {
		t.Errorf("%+v, %v", got, err)
	}
	if d := apitest.Read[ssoSetup](f.Fixture, identity.SSOKey(other)).Domains[0]; d.Missing.IsZero() {
		t.Errorf("the other one: %+v", d)
	}
}

func TestVerifyDomains_LeavesAnOrganizationThatEndsAlone(t *testing.T) {
	f := newDomainFixture(t)
	f.Change(identity.AccessKey(f.org), table.Set("ended", true))
	if got := f.verifyDays(30); got != (Domains{}) {
		t.Errorf("%+v", got)
	}
}

// Settings from before requests were judged by a copy get one.
func TestVerifyDomains_RepairsTheCopyThatRequestsAreJudgedBy(t *testing.T) {
	f := newDomainFixture(t)
	f.Change(identity.AccessKey(f.org), table.Remove("ssoDomains"), table.Remove("ssoHours"))
	f.verify()
	a := apitest.Read[identity.Access](f.Fixture, identity.AccessKey(f.org))
	if !slices.Equal(a.SSODomains, []string{"example.com"}) || a.SSOHours != 12 || a.Members != 1 {
		t.Errorf("%+v", a)
	}
}

// meddlingDNS changes the settings while a run asks.
type meddlingDNS struct {
	*apitest.Names
	f *domainFixture
}

func (m meddlingDNS) LookupTXT(ctx context.Context, name string) ([]string, error) {
	m.f.Change(identity.SSOKey(m.f.org), table.Add("version", 1), table.Set("defaultRole", "editor"))
	return m.Names.LookupTXT(ctx, name)
}

func TestVerifyDomains_DoesNotWriteOverAnotherChange(t *testing.T) {
	f := newDomainFixture(t)
	f.Resolver = meddlingDNS{f.dns, f}
	if got := f.verifyDays(7); got.Warned != 0 || !f.domain().Missing.IsZero() || len(f.Mails()) != 0 {
		t.Errorf("%+v, %+v, %v", got, f.domain(), f.Mails())
	}
	f.Resolver = f.dns
	if got := f.verifyDays(1); got.Warned != 1 {
		t.Errorf("the next day: %+v", got)
	}
}
