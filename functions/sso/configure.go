package sso

import (
	"context"
	"errors"
	"slices"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// ChangedSAML is the body of PUT /organisation/saml.
type ChangedSAML struct {
	MetadataXML rest.Patch[string]   `json:"metadataXML,omitzero" minLength:"1" maxLength:"500000" doc:"The metadata of the identity provider"`
	MetadataURL rest.Patch[string]   `json:"metadataURL,omitzero" minLength:"1" maxLength:"2048" doc:"Where to fetch them, once, now; instead of metadataXML"`
	Domains     rest.Patch[[]string] `json:"domains,omitzero" maxItems:"20" doc:"All mail domains of the organization; one that is left out is given up" example:"[\"example.com\"]"`
	DefaultRole rest.Patch[string]   `json:"defaultRole,omitzero" maxLength:"64" doc:"A system role but owner, or the id of a role of the organization; viewer when it is not set" example:"viewer"`
	Enforced    rest.Patch[bool]     `json:"enforced,omitzero" doc:"Needs a proven domain"`
}

type configureInput struct {
	Body ChangedSAML
}

// attempts bounds how often a change starts again because another one was faster.
const attempts = 3

func (s service) configure(ctx context.Context, in *configureInput) (SAML, error) {
	if err := s.reachable(); err != nil {
		return SAML{}, err
	}
	told, err := s.told(ctx, in.Body)
	if err != nil {
		return SAML{}, err
	}
	for range attempts {
		out, err := s.reconfigure(ctx, in.Body, told)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return out, err
		}
	}
	return SAML{}, changed()
}

// told is the provider that the metadata of the body describe; nil when there are none.
func (s service) told(ctx context.Context, body ChangedSAML) (*provider, error) {
	switch {
	case body.MetadataXML.Null:
		return nil, fault.New(fault.Invalid, "metadataXML: it cannot be null; DELETE /organisation/saml ends single sign-on")
	case body.MetadataXML.Set() && body.MetadataURL.Set():
		return nil, fault.New(fault.Invalid, "metadataXML, metadataURL: send one of them")
	case body.MetadataXML.Set():
		return s.understand("metadataXML", []byte(body.MetadataXML.Value))
	case body.MetadataURL.Set():
		b, err := s.fetch(ctx, body.MetadataURL.Value)
		if err != nil {
			return nil, err
		}
		return s.understand("metadataURL", b)
	}
	return nil, nil
}

// reconfigure changes the setup once.
func (s service) reconfigure(ctx context.Context, body ChangedSAML, told *provider) (SAML, error) {
	c := identity.From(ctx)
	have, err := s.read(ctx, c.Org)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return SAML{}, err
	}
	next, err := s.apply(ctx, have, body, told)
	if err != nil {
		return SAML{}, err
	}
	claims, err := s.takeAll(ctx, c.Org, s.ask(ctx, next.Domains))
	if err != nil {
		return SAML{}, err
	}
	if next.Enforced && len(next.proven()) == 0 {
		return SAML{}, fault.New(fault.Invalid, "enforced: no domain is proven yet, so nobody could get in: publish the TXT record of a domain first")
	}
	if err = s.store(ctx, have, next, claims); err != nil {
		return SAML{}, err
	}
	out := s.shown(next)
	change := audit.Change{Target: c.Org, After: out}
	if have.Version > 0 {
		change.Before = s.shown(have)
	}
	audit.Note(ctx, change)
	return out, nil
}

// apply is have with what the body changes.
func (s service) apply(ctx context.Context, have setup, body ChangedSAML, told *provider) (setup, error) {
	now, next := s.Clock.Now(), have
	if have.Version == 0 {
		next.Created, next.DefaultRole = now, identity.Viewer
	}
	next.Version, next.Updated = have.Version+1, now
	next.Domains = slices.Clone(have.Domains)
	for _, step := range []func() error{
		func() error { return rename(ctx, &next, body, told) },
		func() error { return s.assign(ctx, &next, body.DefaultRole) },
		func() (err error) {
			if body.Domains.Sent {
				next.Domains, err = named(body.Domains.Value, have.Domains)
			}
			return err
		},
	} {
		if err := step(); err != nil {
			return next, err
		}
	}
	body.Enforced.Apply(&next.Enforced)
	return next, nil
}

// rename sets the identity provider. Its word opens the account of any member, so that nobody sets it who does not hold
// whatever a member can.
func rename(ctx context.Context, next *setup, body ChangedSAML, told *provider) error {
	if told == nil && next.EntityID == "" {
		return fault.New(fault.Invalid, "metadataXML or metadataURL is needed the first time")
	}
	if body.MetadataXML.Set() || body.MetadataURL.Sent {
		next.MetadataURL = body.MetadataURL.Value
	}
	if told == nil || told.equal(next.provider) {
		return nil
	}
	if err := membership.MayGrant(identity.From(ctx), []string{"*:*"}, identity.OrgScope); err != nil {
		return fault.Cause(fault.Denied, err, "permission denied: whoever sets the identity provider can sign in as anybody, so only who holds every policy may: ask an owner")
	}
	next.provider = *told
	return nil
}

// assign sets the default role, when the caller could assign it.
func (s service) assign(ctx context.Context, next *setup, role rest.Patch[string]) error {
	if !role.Sent {
		return nil
	}
	c, name := identity.From(ctx), role.Value
	if name == "" {
		name = identity.Viewer
	}
	policies, err := s.policies(ctx, c.Org, name)
	if err != nil {
		return err
	}
	if err = membership.MayGrant(c, policies, identity.OrgScope); err != nil {
		return err
	}
	next.DefaultRole = name
	return nil
}

// policies are those of a role that may be the default one.
func (s service) policies(ctx context.Context, org, role string) ([]string, error) {
	if role == identity.Owner {
		return nil, fault.New(fault.Invalid, "defaultRole: owner cannot be given to everybody who signs in; choose another role")
	}
	if r, ok := identity.SystemRole(role); ok {
		return r.Policies, nil
	}
	k := identity.AccessKey(org)
	a, err := table.Read[identity.Access](table.Within(ctx, k.PK), s.Table, k)
	if err != nil {
		return nil, fault.Wrap("read access of "+org, err)
	}
	r, ok := a.Roles[role]
	if !ok {
		return nil, fault.New(fault.Invalid, "defaultRole: there is no role %.64q; GET /roles lists those there are", role)
	}
	return r.Policies, nil
}

// store writes the setup, the claims that come and go with it, and what the organization's record repeats, all or none.
func (s service) store(ctx context.Context, have, next setup, claims []table.Write) error {
	org := identity.From(ctx).Org
	it, err := table.Row(identity.SSOKey(org), next)
	if err != nil {
		return err
	}
	writes := append([]table.Write{table.Put(it, expected(have))}, claims...)
	writes = append(writes, giveBack(org, have.Domains, next.Domains)...)
	if !slices.Equal(have.demanded(), next.demanded()) {
		writes = append(writes, mirror(org, next.demanded()))
	}
	return fault.Wrap("store single sign-on of "+org, s.Table.Transact(within(ctx), writes...))
}

func (s service) remove(ctx context.Context, _ *struct{}) (rest.Deleted, error) {
	org := identity.From(ctx).Org
	have, err := s.read(ctx, org)
	if err != nil {
		return rest.Deleted{}, err
	}
	writes := append([]table.Write{table.Delete(identity.SSOKey(org), expected(have))}, giveBack(org, have.Domains, nil)...)
	if len(have.demanded()) > 0 {
		writes = append(writes, mirror(org, nil))
	}
	err = s.Table.Transact(within(ctx), writes...)
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return rest.Deleted{}, changed()
	}
	if err != nil {
		return rest.Deleted{}, fault.Wrap("end single sign-on of "+org, err)
	}
	audit.Note(ctx, audit.Change{Target: org, Before: s.shown(have)})
	return rest.Deleted{ID: org}, nil
}
