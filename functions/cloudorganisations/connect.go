package cloudorganisations

import (
	"cmp"
	"context"
	"errors"
	"regexp"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cloudorganisation"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

func (s *service) connectOrganisation(ctx context.Context, in *struct{ Body NewCloudOrganisation }) (CloudOrganisation, error) {
	org, now := identity.CallerFrom(ctx).Org, s.p.Clock.Now()
	o, credentials, err := s.prepareOrganisation(ctx, org, in.Body)
	if err != nil {
		return CloudOrganisation{}, err
	}
	if o.Sealed, err = inventory.SealCredentials(ctx, s.p.Sealer, inventory.SecretPlace(org, o.ID), credentials); err != nil {
		return CloudOrganisation{}, err
	}
	var got inventory.Verified
	if err = s.opener.Ask(ctx, inventory.Question{Ask: inventory.AskOrganisation, Org: org, Account: o.Account()}, &got); err != nil {
		return CloudOrganisation{}, err
	}
	if o.NativeID != "" && o.NativeID != got.NativeID {
		return CloudOrganisation{}, fault.New(fault.Invalid, "credentials: they list organization %s, not %s", got.NativeID, o.NativeID)
	}
	o.NativeID = got.NativeID
	first, work, err := cloudorganisation.NewSync(org, o.ID, now)
	if err != nil {
		return CloudOrganisation{}, err
	}
	o.Sync, o.JobID = first, first.JobID
	if err = s.storeOrganisation(ctx, org, o, work); err != nil {
		return CloudOrganisation{}, err
	}
	cloudorganisation.StartMachine(ctx, s.p, cloudorganisation.Input{Org: org, OrganisationID: o.ID, JobID: first.JobID})
	return newOrganisationRecord(o), nil
}

var roleNameForm = regexp.MustCompile(`^[\w+=,.@/-]{1,64}$`)

// prepareOrganisation checks what can be known without asking the cloud.
func (s *service) prepareOrganisation(ctx context.Context, org string, b NewCloudOrganisation) (cloudorganisation.Organisation, map[string]string, error) {
	now := s.p.Clock.Now()
	o := cloudorganisation.Organisation{
		ID: id.New("corg", now), Provider: b.Provider, NativeID: b.OrganisationID, AuthMethod: b.AuthMethod, PermissionLevel: b.PermissionLevel,
		Include: cloudorganisation.Selection(b.Include), Exclude: cloudorganisation.Selection(b.Exclude), Status: inventory.AccountConnecting,
		CreatedAt: now, UpdatedAt: now,
	}
	a := inventory.Account{ID: o.ID, Provider: b.Provider, Name: b.Name, AuthMethod: b.AuthMethod, Regions: b.Regions, EndpointURL: b.EndpointURL}
	if err := cmp.Or(o.Include.Check("include"), o.Exclude.Check("exclude")); err != nil {
		return o, nil, err
	}
	if err := s.opener.CheckAccount(&a); err != nil {
		return o, nil, err
	}
	o.Name, o.Regions, o.EndpointURL = a.Name, a.Regions, a.EndpointURL
	credentials, err := s.opener.CheckCredentials(ctx, org, a, b.Credentials)
	if err != nil || o.Provider != "aws" {
		return o, credentials, err
	}
	if o.MemberRole = b.MemberRole; o.MemberRole == "" {
		o.MemberRole = cloudorganisation.MemberRole
	}
	if !roleNameForm.MatchString(o.MemberRole) {
		return o, nil, fault.New(fault.Invalid, "memberRole: %.64q is not the name of a role", o.MemberRole)
	}
	credentials["memberRole"] = o.MemberRole
	credentials["externalID"], err = s.opener.ExternalID(ctx, org)
	return o, credentials, err
}

// storeOrganisation stores the organization, once for each native id, with its first synchronization and when the next are due.
func (s *service) storeOrganisation(ctx context.Context, org string, o cloudorganisation.Organisation, work table.Write) error {
	have, err := cloudorganisation.List(ctx, s.p.Table, org)
	if err != nil {
		return err
	}
	if len(have) >= cloudorganisation.MaxOrganisations {
		return fault.New(fault.Conflict, "%d cloud organisations are connected, which is the most that there can be", len(have))
	}
	native, err := connection.Reserve(organisationNative(org, o), o.ID)
	if err != nil {
		return err
	}
	row, err := table.NewItem(cloudorganisation.Key(org, o.ID), o)
	if err != nil {
		return err
	}
	due, err := cloudorganisation.AddDue(org, o.ID)
	if err != nil {
		return err
	}
	err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix, cloudorganisation.DuePrefix), native, table.Put(row, table.Absent()), due, work)
	if _, taken := errors.AsType[*table.ConditionError](err); taken {
		return fault.New(fault.Conflict, "organisationID: the organization %s of %s is connected already", o.NativeID, o.Provider)
	}
	return fault.Wrap("store cloud organisation "+o.ID, err)
}

func organisationNative(org string, o cloudorganisation.Organisation) table.Key {
	return connection.NativeKey(org, o.Provider, "organisation/"+o.NativeID)
}
