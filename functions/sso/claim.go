package sso

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// domainPrefix is the prefix of the keys of claims.
const domainPrefix = "SSODOMAIN#"

// claim stores which organization has proven a domain. It has the same key for all organizations, so only one can
// have it.
type claim struct {
	Org   string    `json:"org"`
	Since time.Time `json:"since"`
}

func claimKey(name string) table.Key { return table.Key{PK: domainPrefix + name, SK: "D"} }

// findDomainHolder returns the organization that has proven a domain, or "".
func (s service) findDomainHolder(ctx context.Context, name string) (string, error) {
	k := claimKey(name)
	c, err := table.Read[claim](table.Within(ctx, k.PK), s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return "", nil
	}
	return c.Org, fault.Wrap("read claim of "+name, err)
}

// hasEnded reports whether an organization has ended. Its claims are then free, even if they were not released.
func (s service) hasEnded(ctx context.Context, org string) (bool, error) {
	k := identity.AccessKey(org)
	a, err := table.Read[identity.Access](table.Within(ctx, k.PK), s.Table, k)
	if fault.Is(err, fault.NotFound) {
		return true, nil
	}
	return a.Ended, fault.Wrap("read access of "+org, err)
}

// claimDomain returns the write that gives the domain to org, or nil if another organization has it, which is then
// noted in d.
func (s service) claimDomain(ctx context.Context, org string, d *domain) (*table.Write, error) {
	have, err := s.findDomainHolder(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	cond := table.Absent()
	if have != "" {
		free := have == org
		if !free {
			if free, err = s.hasEnded(ctx, have); err != nil {
				return nil, err
			}
		}
		if !free {
			d.Reason = "another organization has proven this domain: it has to give it up first"
			return nil, nil
		}
		cond = table.Equal("org", have)
	}
	it, err := table.NewItem(claimKey(d.Name), claim{org, s.Clock.Now()})
	if err != nil {
		return nil, err
	}
	d.Verified = s.Clock.Now()
	w := table.Put(it, cond)
	return &w, nil
}

// claimDomains returns the writes that give org the domains that no other organization has.
func (s service) claimDomains(ctx context.Context, org string, ds []*domain) ([]table.Write, error) {
	var out []table.Write
	for _, d := range ds {
		w, err := s.claimDomain(ctx, org, d)
		if err != nil {
			return nil, err
		}
		if w != nil {
			out = append(out, *w)
		}
	}
	return out, nil
}

// releaseDomains returns the writes that free the proven domains of was that are not in is.
func releaseDomains(org string, was, is []domain) []table.Write {
	var out []table.Write
	for _, d := range was {
		kept := slices.ContainsFunc(is, func(o domain) bool { return o.Name == d.Name })
		if d.isVerified() && !kept {
			out = append(out, table.Delete(claimKey(d.Name), table.Any(table.Lacks("org"), table.Equal("org", org))))
		}
	}
	return out
}

// recordEnforcedDomains returns the write that stores the domains with mandatory single sign-on in the organization's
// record, where sessions read them.
func recordEnforcedDomains(org string, names []string) table.Write {
	change := table.Remove("ssoDomains")
	if len(names) > 0 {
		change = table.Set("ssoDomains", names)
	}
	return table.Update(identity.OrganisationKey(org), []table.Change{change}, table.Exists())
}

// withClaims returns a context that lets the store touch the claims of domains.
func withClaims(ctx context.Context) context.Context { return table.Within(ctx, domainPrefix) }

// ifUnchanged returns the condition that the setup is still the one that was read.
func ifUnchanged(have setup) table.Cond {
	if have.Version == 0 {
		return table.Absent()
	}
	return table.Equal("version", have.Version)
}

// changedMeanwhile returns the error of a transaction whose condition failed because of a concurrent change.
func changedMeanwhile() error {
	return fault.New(fault.Conflict, "single sign-on was changed by somebody else meanwhile: read it and try again")
}
