package sso

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/maildomain"
	"lamplighter.dev/shared/people/membership"
)

// ChangedSAML is the body of PUT /organisation/saml.
type ChangedSAML struct {
	MetadataXML rest.Patch[string]   `json:"metadataXML,omitzero" minLength:"1" maxLength:"500000" doc:"The metadata of the identity provider"`
	MetadataURL rest.Patch[string]   `json:"metadataURL,omitzero" minLength:"1" maxLength:"2048" doc:"Address of the metadata, fetched once at this request; instead of metadataXML"`
	Domains     rest.Patch[[]string] `json:"domains,omitzero" maxItems:"20" doc:"All mail domains of the organization; a domain that is not listed is released" example:"[\"example.com\"]"`
	DefaultRole rest.Patch[string]   `json:"defaultRole,omitzero" maxLength:"64" doc:"A system role except owner, or the id of a role of the organization; default: viewer" example:"viewer"`
	Enforced    rest.Patch[bool]     `json:"enforced,omitzero" doc:"Needs a proven domain"`

	SessionHours rest.Patch[int] `json:"sessionHours,omitzero" minimum:"1" maximum:"24" doc:"After how many hours a session of single sign-on ends, so that its user must sign in at the identity provider again; null sets the default, 12" example:"12"`
}

type configureInput struct {
	Body ChangedSAML
}

// maxAttempts is how often a change is tried if other changes are faster.
const maxAttempts = 3

func (s service) setSettings(ctx context.Context, in *configureInput) (SAML, error) {
	if err := s.requireBaseURL(); err != nil {
		return SAML{}, err
	}
	told, err := s.readProvider(ctx, in.Body)
	if err != nil {
		return SAML{}, err
	}
	for range maxAttempts {
		out, err := s.trySetSettings(ctx, in.Body, told)
		if _, raced := errors.AsType[*table.ConditionError](err); !raced {
			return out, err
		}
	}
	return SAML{}, changedMeanwhile()
}

// readProvider returns the provider that the metadata of the body describe, or nil without metadata.
func (s service) readProvider(ctx context.Context, body ChangedSAML) (*saml.Provider, error) {
	switch {
	case body.MetadataXML.Null:
		return nil, fault.New(fault.Invalid, "metadataXML: it cannot be null; DELETE /organisation/saml ends "+
			"single sign-on")
	case body.MetadataXML.Set() && body.MetadataURL.Set():
		return nil, fault.New(fault.Invalid, "metadataXML, metadataURL: send one of them")
	case body.MetadataXML.Set():
		return s.parseMetadata("metadataXML", []byte(body.MetadataXML.Value))
	case body.MetadataURL.Set():
		b, err := s.fetchMetadata(ctx, body.MetadataURL.Value)
		if err != nil {
			return nil, err
		}
		return s.parseMetadata("metadataURL", b)
	}
	return nil, nil
}

// parseMetadata parses the provider's metadata. field names their source in errors.
func (s service) parseMetadata(field string, b []byte) (*saml.Provider, error) {
	p, err := saml.ParseMetadata(b, s.Clock.Now(), s.Settings.PrivateAddresses)
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "%s: %s", field, fault.Message(err))
	}
	return p, nil
}

// trySetSettings tries to change the setup once.
func (s service) trySetSettings(ctx context.Context, body ChangedSAML, told *saml.Provider) (SAML, error) {
	c := identity.CallerFrom(ctx)
	have, err := s.readSetup(ctx, c.Org)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return SAML{}, err
	}
	next, err := s.applyChange(ctx, have, body, told)
	if err != nil {
		return SAML{}, err
	}
	claims, err := s.claimDomains(ctx, c.Org, s.checkDomains(ctx, next.Domains))
	if err != nil {
		return SAML{}, err
	}
	lapsed := have.Enforced && len(have.verifiedDomains()) == 0 // since it was enforced
	if next.Enforced && len(next.verifiedDomains()) == 0 && !lapsed {
		return SAML{}, fault.New(fault.Invalid, "enforced: no domain is proven yet, so no member could sign "+
			"in: publish "+
			"the TXT record of a domain first")
	}
	if err = s.storeSetup(ctx, have, next, claims); err != nil {
		return SAML{}, err
	}
	out := s.describeSetup(next)
	change := audit.Change{Target: c.Org, After: out}
	if have.Version > 0 {
		change.Before = s.describeSetup(have)
	}
	audit.NoteChange(ctx, change)
	return out, nil
}

// applyChange returns have with the changes of the body.
func (s service) applyChange(ctx context.Context, have setup, body ChangedSAML, told *saml.Provider) (setup, error) {
	now, next := s.Clock.Now(), have
	if have.Version == 0 {
		next.Created, next.DefaultRole = now, grant.Viewer
	}
	next.SessionHours = cmp.Or(next.SessionHours, identity.DefaultSSOHours)
	next.Version, next.Updated = have.Version+1, now
	next.Domains = slices.Clone(have.Domains)
	for _, step := range []func() error{
		func() error { return setProvider(ctx, &next, body, told) },
		func() error { return s.setDefaultRole(ctx, &next, body.DefaultRole) },
		func() (err error) {
			if body.Domains.Sent {
				next.Domains, err = findOrAddDomains(body.Domains.Value, have.Domains)
			}
			return err
		},
	} {
		if err := step(); err != nil {
			return next, err
		}
	}
	body.Enforced.Apply(&next.Enforced)
	if body.SessionHours.Sent {
		next.SessionHours = cmp.Or(body.SessionHours.Value, identity.DefaultSSOHours)
	}
	return next, nil
}

// setProvider sets the identity provider. The provider's assertions can sign in as any member, so only a caller who
// holds every policy may set it.
func setProvider(ctx context.Context, next *setup, body ChangedSAML, told *saml.Provider) error {
	if told == nil && next.EntityID == "" {
		return fault.New(fault.Invalid, "metadataXML or metadataURL is needed the first time")
	}
	if body.MetadataXML.Set() || body.MetadataURL.Sent {
		next.MetadataURL = body.MetadataURL.Value
	}
	if told == nil || told.Equal(next.Provider) {
		return nil
	}
	if err := membership.MayGrant(identity.CallerFrom(ctx), []string{"*:*"}, grant.OrgScope); err != nil {
		return fault.NewWithCause(fault.Denied, err,
			"permission denied: the identity provider can sign in as every member, so only a caller who holds every "+
				"policy may: ask an owner")
	}
	next.Provider = *told
	return nil
}

// setDefaultRole sets the default role, if the caller could assign it.
func (s service) setDefaultRole(ctx context.Context, next *setup, role rest.Patch[string]) error {
	if !role.Sent {
		return nil
	}
	c, name := identity.CallerFrom(ctx), role.Value
	if name == "" {
		name = grant.Viewer
	}
	policies, err := s.defaultRolePolicies(ctx, c.Org, name)
	if err != nil {
		return err
	}
	if err = membership.MayGrant(c, policies, grant.OrgScope); err != nil {
		return err
	}
	next.DefaultRole = name
	return nil
}

// defaultRolePolicies returns the policies of a role that may be the default role.
func (s service) defaultRolePolicies(ctx context.Context, org, role string) ([]string, error) {
	if role == grant.Owner {
		return nil, fault.New(fault.Invalid, "defaultRole: owner cannot be given to everybody who signs in; choose "+
			"another role")
	}
	if r, ok := grant.SystemRole(role); ok {
		return r.Policies, nil
	}
	k := identity.AccessKey(org)
	a, err := table.Read[identity.Access](table.Within(ctx, k.PK), s.Table, k)
	if err != nil {
		return nil, fault.Wrap("read access of "+org, err)
	}
	r, ok := a.Roles[role]
	if !ok {
		return nil, fault.New(
			fault.Invalid, "defaultRole: there is no role %.64q; GET /roles lists those there are", role)
	}
	return r.Policies, nil
}

// storeSetup writes the setup, the changed claims, and the copies in the organization's record, in one transaction.
func (s service) storeSetup(ctx context.Context, have, next setup, claims []table.Write) error {
	org := identity.CallerOrg(ctx)
	put, err := table.PutFields(identity.SSOKey(org), next, ifUnchanged(have))
	if err != nil {
		return err
	}
	writes := append([]table.Write{put}, claims...)
	writes = append(writes, maildomain.Release(org, have.Domains, next.Domains)...)
	if have.Version == 0 || have.demandsOtherThan(next) {
		writes = append(writes, identity.DemandSSO(org, next.enforcedDomains(), next.SessionHours)...)
	}
	return fault.Wrap("store single sign-on of "+org, s.Table.Transact(maildomain.WithClaims(ctx), writes...))
}

func (s service) deleteSettings(ctx context.Context, _ *struct{}) (rest.Deleted, error) {
	org := identity.CallerOrg(ctx)
	have, err := s.readSetup(ctx, org)
	if err != nil {
		return rest.Deleted{}, err
	}
	writes := append([]table.Write{table.Delete(identity.SSOKey(org), ifUnchanged(have))},
		maildomain.Release(org, have.Domains, nil)...)
	writes = append(writes, identity.DemandSSO(org, nil, 0)...)
	err = s.Table.Transact(maildomain.WithClaims(ctx), writes...)
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return rest.Deleted{}, changedMeanwhile()
	}
	if err != nil {
		return rest.Deleted{}, fault.Wrap("end single sign-on of "+org, err)
	}
	audit.NoteChange(ctx, audit.Change{Target: org, Before: s.describeSetup(have)})
	return rest.Deleted{ID: org}, nil
}
