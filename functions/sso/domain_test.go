package sso

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
	"lamplighter.dev/shared/testkit/apitest"
)

func domainsOf(data map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, d := range data["domains"].([]any) {
		d := d.(map[string]any)
		out[d["name"].(string)] = d
	}
	return out
}

func TestADomainBelongsToOneOrganization(t *testing.T) {
	h, first, w := newConnected(t)
	other := h.newOrganization("owner@other.test")
	other.putSettings(map[string]any{"metadataXML": string(w.Metadata()), "domains": []string{"example.com"}})
	d := domainsOf(other.proveDomain())["example.com"]
	if d["verified"] != false || !strings.Contains(d["reason"].(string), "another organization") ||
		strings.Contains(d["reason"].(string), first.org) {
		t.Fatalf("%v", d)
	}
	if tok := domainsOf(first.getSettings())["example.com"]["txtValue"]; tok == d["txtValue"] {
		t.Error("two organizations have one token")
	}
	first.putSettings(map[string]any{"domains": []string{}})
	if d := domainsOf(other.putSettings(map[string]any{}))["example.com"]; d["verified"] != true {
		t.Errorf("after the other gave it up: %v", d)
	}
	first.putSettings(map[string]any{"domains": []string{"example.com"}})
	if domainsOf(first.getSettings())["example.com"]["verified"] == true {
		t.Error("it is the first one's again, by an old record")
	}
}

func TestTwoOrganizationsProveOneDomainAtOnce(t *testing.T) {
	h, w := newFixture(t), newProvider()
	organisations := make([]*organization, 8)
	for i := range organisations {
		organisations[i] = h.newOrganization(fmt.Sprintf("owner@org%d.test", i))
		organisations[i].putSettings(map[string]any{
			"metadataXML": string(w.Metadata()),
			"domains":     []string{"example.com"},
		})
		d := domainsOf(organisations[i].getSettings())["example.com"]
		h.dns.Publish(d["txtName"].(string), d["txtValue"].(string))
	}
	var proven atomic.Int64
	var wg sync.WaitGroup
	for _, o := range organisations {
		wg.Go(func() {
			if a := o.askAs(grant.Owner, http.MethodPut, map[string]any{}); a.Status != http.StatusOK {
				t.Errorf("status %d: %s", a.Status, a.Body)
			} else if domainsOf(a.Data)["example.com"]["verified"] == true {
				proven.Add(1)
			}
		})
	}
	wg.Wait()
	if proven.Load() != 1 {
		t.Errorf("%d have proven it", proven.Load())
	}
}

func TestADomainOfAnOrganizationThatEndedIsFree(t *testing.T) {
	h, first, w := newConnected(t)
	h.Put(identity.AccessKey(first.org), identity.Access{Ended: true})
	h.initiate(map[string]any{"email": ada}).want(t, http.StatusBadRequest)
	other := h.newOrganization("owner@other.test")
	other.connectProvider(w.Metadata(), "example.com")
	if c := apitest.Read[maildomain.Claim](h.Fixture, maildomain.ClaimKey("example.com")); c.Org != other.org {
		t.Errorf("claimed by %s", c.Org)
	}
}

func TestDomainsThatBelongToNobody(t *testing.T) {
	h := newFixture(t)
	o := h.newOrganization("owner@example.com")
	for _, name := range []string{
		"gmail.com", "GMAIL.com", "outlook.com", "com", "co.uk", "github.io", "", "localhost", "exa mple.com",
		"example..com", "-a.com", "ex@mple.com",
		"*.example.com", "example.com/x", strings.Repeat("a", 64) + ".com", "xn--", "bücher.example",
	} {
		a := o.setAs(grant.Owner, http.StatusBadRequest,
			map[string]any{"metadataXML": string(newProvider().Metadata()), "domains": []string{name}})
		if !strings.Contains(a.Body, "domains") {
			t.Errorf("%q: %s", name, a.Body)
		}
	}
	if len(h.dns.Asked()) > 0 {
		t.Errorf("asked for %v", h.dns.Asked())
	}
}

func TestEnforcingNeedsAProvenDomain(t *testing.T) {
	h := newFixture(t)
	o := h.newOrganization("owner@example.com")
	body := map[string]any{
		"metadataXML": string(newProvider().Metadata()), "domains": []string{"example.com"},
		"enforced": true,
	}
	o.setAs(grant.Owner, http.StatusBadRequest, body)
	o.connectProvider(newProvider().Metadata(), "example.com", "second.test")
	o.putSettings(map[string]any{"enforced": true})
	demanded := func() []string {
		return apitest.Read[identity.OrganisationRecord](h.Fixture, identity.OrganisationKey(o.org)).SSO
	}
	if got := demanded(); !slices.Equal(got, []string{"example.com", "second.test"}) {
		t.Errorf("the organization's record says %v", got)
	}
	o.setAs(grant.Owner, http.StatusBadRequest, map[string]any{"domains": []string{}})
	o.putSettings(map[string]any{"domains": []string{"second.test"}})
	if got := demanded(); !slices.Equal(got, []string{"second.test"}) {
		t.Errorf("after a domain went: %v", got)
	}
	o.putSettings(map[string]any{"enforced": nil})
	if got := demanded(); got != nil {
		t.Errorf("after it ended: %v", got)
	}
	o.putSettings(map[string]any{"enforced": true})
	o.askAs(grant.Owner, http.MethodDelete, nil).want(t, http.StatusOK)
	if got := demanded(); got != nil {
		t.Errorf("after all ended: %v", got)
	}
	if o := apitest.Read[identity.OrganisationRecord](h.Fixture, identity.OrganisationKey(o.org)); o.Name == "" {
		t.Errorf("the record lost more than that: %+v", o)
	}
}

// Both organizations have read that the domain is free. The second write fails.
func TestADomainIsTakenOnCondition(t *testing.T) {
	h := newFixture(t)
	s := newService(h.Platform)
	first, err := s.claimDomain(anywhere(), "org_1", &domain{Name: "example.com"})
	h.Must(err)
	second, err := s.claimDomain(anywhere(), "org_2", &domain{Name: "example.com"})
	h.Must(err)
	h.Write(*first)
	if _, err = h.Table.Write(anywhere(), *second); !fault.Is(err, fault.Conflict) {
		t.Errorf("both have it: %v", err)
	}
}

// A claim alone opens nothing: the setup must say the same.
func TestAClaimWithoutASetupThatSaysSo(t *testing.T) {
	h, o, _ := newConnected(t)
	h.Put(maildomain.ClaimKey("other.test"), maildomain.Claim{Org: o.org})
	h.initiate(map[string]any{"domain": "other.test"}).want(t, http.StatusBadRequest)
}
