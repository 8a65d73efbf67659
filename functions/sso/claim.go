package sso

import (
	"context"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
)

// findDomainHolder returns the organization that has proven a domain, or "".
func (s service) findDomainHolder(ctx context.Context, name string) (string, error) {
	k := maildomain.ClaimKey(name)
	c, err := table.Read[maildomain.Claim](table.Within(ctx, k.PK), s.Table, k)
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
	it, err := table.NewItem(maildomain.ClaimKey(d.Name), maildomain.Claim{Org: org, Since: s.Clock.Now()})
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
