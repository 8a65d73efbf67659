package reminder

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
)

const (
	verifyTime = 10 * time.Minute // of a run; the next run goes on with the organizations that are left
	setupsPage = 33               // organizations of one read, with three rows each
	rotation   = "maildomains"
)

// Domains summarizes a run over the mail domains of single sign-on.
type Domains struct {
	Looked int `json:"looked"` // domains that were looked up
	Warned int `json:"warned"` // domains whose owners were told that the record is missing
	Lapsed int `json:"lapsed"`
}

// ssoSetup is the part of an organization's single sign-on that depends on proven domains.
type ssoSetup struct {
	Domains      []maildomain.Domain `json:"domains"`
	Enforced     bool                `json:"enforced"`
	SessionHours int                 `json:"sessionHours"`
	Version      int64               `json:"version"`
}

func (s ssoSetup) enforcedDomains() []string {
	if !s.Enforced {
		return nil
	}
	return maildomain.Names(s.Domains)
}

// VerifyDomains looks up the records of proven mail domains that are due, each once a week. If a record is missing, it
// mails the owners each day, and after a week the domain lapses. An organization that cannot be verified does not
// affect the others.
func VerifyDomains(ctx context.Context, p *platform.Platform) (Domains, error) {
	r := &domainRound{Platform: p, log: audit.New(p), rotation: identity.NewRotation(p.Table, rotation)}
	orgs, err := r.rotation.ReadOrganizations(ctx)
	errs, until := []error{err}, p.Clock.Now().Add(verifyTime)
	for some := range slices.Chunk(orgs, setupsPage) {
		errs = append(errs, r.verifyPage(ctx, some, until))
	}
	return r.done, errors.Join(errs...)
}

// domainRound is one run over domains.
type domainRound struct {
	*platform.Platform
	log      *audit.Log
	rotation identity.Rotation
	done     Domains
}

// verifyPage verifies the domains of some organizations, with one read for all of them.
func (r *domainRound) verifyPage(ctx context.Context, orgs []string, until time.Time) error {
	if r.Clock.Now().After(until) {
		return nil
	}
	var keys []table.Key
	var prefixes []string
	for _, org := range orgs {
		keys = append(keys, identity.SSOKey(org), identity.AccessKey(org), identity.OrganisationKey(org))
		prefixes = append(prefixes, table.OrgPK(org))
	}
	found, err := r.Table.BatchGet(table.Within(ctx, prefixes...), keys...)
	if err != nil {
		return fmt.Errorf("read single sign-on of %d organizations: %w", len(orgs), err)
	}
	var errs []error
	for _, org := range orgs {
		if r.Clock.Now().After(until) {
			break
		}
		if err = r.verifyOrganization(ctx, org, found); err != nil {
			errs = append(errs, fmt.Errorf("verify the mail domains of %s: %w", org, err))
		}
	}
	return errors.Join(errs...)
}

// domainsOf are the rows of one organization.
type domainsOf struct {
	org    string
	name   string // of the organization
	setup  ssoSetup
	access identity.Access
}

func decodeDomains(org string, found map[table.Key]table.Item) (out domainsOf, err error) {
	out.org = org
	setup, access, record := found[identity.SSOKey(org)], found[identity.AccessKey(org)],
		found[identity.OrganisationKey(org)]
	if setup.Data == nil || access.Data == nil || record.Data == nil {
		return out, nil
	}
	if out.setup, err = table.Decode[ssoSetup](setup); err != nil {
		return out, err
	}
	if out.access, err = table.Decode[identity.Access](access); err != nil {
		return out, err
	}
	o, err := table.Decode[identity.OrganisationRecord](record)
	out.name = o.Name
	return out, err
}

// verifyOrganization verifies the domains of an organization that are due.
func (r *domainRound) verifyOrganization(ctx context.Context, org string, found map[table.Key]table.Item) error {
	is, err := decodeDomains(org, found)
	if err != nil || is.setup.Version == 0 || is.access.Ended {
		return err
	}
	var due []int
	var asked []maildomain.Domain
	for i, d := range is.setup.Domains {
		if d.IsDue(r.Clock.Now()) {
			due, asked = append(due, i), append(asked, d)
		}
	}
	if len(due) == 0 {
		return r.repairDemand(ctx, is)
	}
	if err = r.rotation.Begin(ctx, org); err != nil {
		return err
	}
	r.done.Looked += len(due)
	c := domainChange{domainsOf: is, next: is.setup}
	c.next.Domains = slices.Clone(is.setup.Domains)
	for i, result := range maildomain.LookUp(ctx, r.Resolver, asked) {
		c.settle(&c.next.Domains[due[i]], result, r.Clock.Now())
	}
	return r.store(ctx, &c)
}

// repairDemand writes again which log-ins the organization demands, if the row that requests are judged by says
// something else: it was written before there was such a copy.
func (r *domainRound) repairDemand(ctx context.Context, is domainsOf) error {
	if slices.Equal(is.access.SSODomains, is.setup.enforcedDomains()) && is.access.SSOHours == is.setup.SessionHours {
		return nil
	}
	writes := identity.DemandSSO(is.org, is.setup.enforcedDomains(), is.setup.SessionHours)
	check := table.Check(identity.SSOKey(is.org), table.Equal("version", is.setup.Version))
	err := r.Table.Transact(table.WithOrg(ctx, is.org), append(writes, check)...)
	return ignoreRace(err)
}

// ignoreRace returns nil for an organization that was changed meanwhile: the next run reads it again.
func ignoreRace(err error) error {
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return nil
	}
	return err
}

// domainChange is the change of an organization's domains by a run.
type domainChange struct {
	domainsOf
	next           ssoSetup
	warned, lapsed []maildomain.Domain
}

// settle applies the result of a lookup to a domain of next.
func (c *domainChange) settle(d *maildomain.Domain, result maildomain.Result, now time.Time) {
	switch d.Settle(result, now) {
	case maildomain.Warning:
		c.warned = append(c.warned, *d)
	case maildomain.Lapsed:
		c.lapsed = append(c.lapsed, *d)
	case maildomain.Kept, maildomain.Unchanged:
	}
}

// store writes the domains in one transaction with the mails to the owners. If a domain has lapsed, its claim is freed,
// nobody must use single sign-on for it any more, and the organization's audit log says so.
func (r *domainRound) store(ctx context.Context, c *domainChange) error {
	if slices.Equal(c.next.Domains, c.setup.Domains) {
		return nil
	}
	changes := []table.Change{table.Set("domains", c.next.Domains), table.Add("version", 1)}
	if len(c.lapsed) > 0 {
		changes = append(changes, table.Set("updated", r.Clock.Now()))
	}
	writes := []table.Write{
		table.Update(identity.SSOKey(c.org), changes, table.Equal("version", c.setup.Version)),
	}
	writes = append(writes, maildomain.Release(c.org, c.setup.Domains, c.next.Domains)...)
	ctx = maildomain.WithClaims(table.Within(table.WithOrg(ctx, c.org), mail.Prefix))
	post, err := r.mailOwners(ctx, c)
	if err != nil {
		return err
	}
	writes = append(writes, post...)
	if len(c.lapsed) == 0 {
		err = r.Table.Transact(ctx, writes...)
	} else {
		writes = append(writes, identity.DemandSSO(c.org, c.next.enforcedDomains(), c.next.SessionHours)...)
		_, err = r.log.Append(ctx, c.org, c.auditRow(), writes...)
	}
	if err == nil {
		r.done.Warned, r.done.Lapsed = r.done.Warned+len(c.warned), r.done.Lapsed+len(c.lapsed)
	}
	return fault.Wrap("store the mail domains of "+c.org, ignoreRace(err))
}

// provenDomains are the proven domains of an organization, in its audit log.
type provenDomains struct {
	Domains []string `json:"domains"`
}

func (c *domainChange) auditRow() audit.Row {
	return audit.Row{
		Action: "lapseMailDomain", ResourceType: "organisation", Target: c.org, Changes: audit.Changes{
			Before: provenDomains{maildomain.Names(c.setup.Domains)},
			After:  provenDomains{slices.Concat([]string{}, maildomain.Names(c.next.Domains))},
		},
	}
}

// mailOwners returns the writes that queue the mails about missing records and lapsed domains.
func (r *domainRound) mailOwners(ctx context.Context, c *domainChange) ([]table.Write, error) {
	if len(c.warned)+len(c.lapsed) == 0 {
		return nil, nil
	}
	owners, err := identity.OwnerAddresses(ctx, r.Table, c.org)
	if err != nil {
		return nil, err
	}
	var out []table.Write
	for _, to := range owners {
		for _, m := range c.mails(to) {
			w, err := mail.QueueMail(ctx, r.Sealer, r.Clock.Now(), m)
			if err != nil {
				return nil, fmt.Errorf("tell owners of %s: %w", c.org, err)
			}
			out = append(out, w)
		}
	}
	return out, nil
}

// mails returns the mails of the change to an owner.
func (c *domainChange) mails(to string) []mail.Mail {
	var out []mail.Mail
	for _, about := range []struct {
		template mail.Template
		domains  []maildomain.Domain
	}{{mail.DomainsMissing, c.warned}, {mail.DomainsLapsed, c.lapsed}} {
		if len(about.domains) == 0 {
			continue
		}
		var lines strings.Builder
		for _, d := range about.domains {
			lines.WriteString("- " + mail.HarmlessName(d.Name))
			if at := d.Lapses(); !at.IsZero() {
				lines.WriteString(", lapses on " + at.UTC().Format("2 January 2006"))
			}
			lines.WriteString("\n")
		}
		out = append(out, mail.Mail{
			Template: about.template, To: to, Org: c.org,
			Data: map[string]string{"organisation": c.name, "domains": lines.String()},
		})
	}
	return out
}
