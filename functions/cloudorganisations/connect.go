package cloudorganisations

import (
	"cmp"
	"context"
	"regexp"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

func (s *service) connectOrganisation(ctx context.Context, in *struct{ Body NewCloudOrganisation }) (CloudOrganisation,
	error,
) {
	org, now := identity.CallerOrg(ctx), s.p.Clock.Now()
	o, err := s.prepareOrganisation(in.Body)
	if err != nil {
		return CloudOrganisation{}, err
	}
	if err = s.openOrganisation(ctx, org, &o, in.Body.Credentials); err != nil {
		return CloudOrganisation{}, err
	}
	first, work, err := connection.NewSync(org, o.ID, now)
	if err != nil {
		return CloudOrganisation{}, err
	}
	o.Sync, o.JobID = first, first.JobID
	if err = s.storeOrganisation(ctx, org, o, work); err != nil {
		return CloudOrganisation{}, err
	}
	connection.StartSyncMachine(ctx, s.p,
		connection.SyncInput{Org: org, OrganisationID: o.ID, JobID: first.JobID})
	return newOrganisationRecord(o), nil
}

var roleNameForm = regexp.MustCompile(`^[\w+=,.@/-]{1,64}$`)

// prepareOrganisation builds an organization from the body, and checks everything except the credentials without
// asking the cloud.
func (s *service) prepareOrganisation(b NewCloudOrganisation) (connection.Organisation, error) {
	now := s.p.Clock.Now()
	o := connection.Organisation{
		ID: id.New("corg", now), Provider: b.Provider, NativeID: b.OrganisationID, Name: b.Name,
		AuthMethod: b.AuthMethod, PermissionLevel: b.PermissionLevel,
		Regions: b.Regions, EndpointURL: b.EndpointURL, Include: connection.MemberSelection(b.Include),
		Exclude: connection.MemberSelection(b.Exclude),
		Status:  inventory.AccountConnecting, CreatedAt: now, UpdatedAt: now,
	}
	if err := cmp.Or(s.checkNative(o), connection.CheckRegions(o.Provider, o.Regions)); err != nil {
		return o, err
	}
	if o.Provider == "aws" {
		if o.MemberRole = cmp.Or(b.MemberRole, connection.MemberRole); !roleNameForm.MatchString(o.MemberRole) {
			return o, fault.New(fault.Invalid, "memberRole: %.64q is not the name of a role", o.MemberRole)
		}
	}
	return o, s.checkOrganisation(&o)
}

// checkOrganisation refuses invalid names, regions, endpoints and selections, and normalizes them for storage.
func (s *service) checkOrganisation(o *connection.Organisation) error {
	if err := cmp.Or(o.Include.Check("include"), o.Exclude.Check("exclude")); err != nil {
		return err
	}
	a := o.Account()
	a.Name = o.Name
	err := s.opener.CheckAccount(&a)
	o.Name, o.Regions = a.Name, a.Regions
	return err
}

// openOrganisation seals the sent credentials into the organization, and asks the cloud whether they work.
func (s *service) openOrganisation(ctx context.Context, org string, o *connection.Organisation,
	sent map[string]string,
) error {
	credentials, err := s.opener.CheckCredentials(ctx, org, o.Account(), sent)
	if err == nil && o.Provider == "aws" {
		credentials["memberRole"] = o.MemberRole
		credentials["externalID"], err = s.opener.ExternalID(ctx, org)
	}
	if err != nil {
		return err
	}
	if o.Sealed, err = inventory.SealCredentials(ctx, s.p.Sealer, inventory.SecretPlace(org, o.ID),
		credentials); err != nil {
		return err
	}
	var got inventory.Verified
	if err = s.opener.Ask(ctx, inventory.Question{Ask: inventory.AskOrganisation, Org: org, Account: o.Account()},
		&got); err != nil {
		return err
	}
	if o.NativeID != "" && !strings.EqualFold(o.NativeID, got.NativeID) {
		return fault.New(fault.Invalid, "credentials: they list organization %s, not %s", got.NativeID, o.NativeID)
	}
	o.NativeID = got.NativeID
	return nil
}

// storeOrganisation stores the organization, once for each native ID, together with its first synchronization and the
// due row of the next ones, if there is room for one more.
func (s *service) storeOrganisation(ctx context.Context, org string, o connection.Organisation,
	work table.Write,
) error {
	limited := table.LimitedList{PK: organisationNative(org, o).PK, Noun: "cloud organisations"}
	return limited.Add(ctx, s.p.Table, func(take table.Write) error {
		have, err := connection.ListOrganisations(ctx, s.p.Table, org)
		if err == nil && len(have) >= connection.MaxOrganisations {
			err = fault.New(fault.Conflict, "%d cloud organisations are connected, which is the most that there can be",
				len(have))
		}
		if err != nil {
			return err
		}
		return s.writeOrganisation(ctx, org, o, work, take)
	})
}

// writeOrganisation stores the organization together with more.
func (s *service) writeOrganisation(ctx context.Context, org string, o connection.Organisation,
	more ...table.Write,
) error {
	native, err := connection.Reserve(organisationNative(org, o), o.ID)
	if err != nil {
		return err
	}
	row, err := table.NewItem(connection.OrganisationKey(org, o.ID), o)
	if err != nil {
		return err
	}
	due, err := connection.AddOrganisationDue(org, o.ID)
	if err != nil {
		return err
	}
	ws := append([]table.Write{native, table.Put(row, table.Absent()), due}, more...)
	err = s.p.Table.Transact(table.Within(ctx, workqueue.Prefix, connection.OrganisationDuePrefix), ws...)
	return table.ExplainLost(err, "store cloud organisation "+o.ID, func(*table.ConditionError) error {
		return fault.New(fault.Conflict, "organisationID: the organization %s of %s is connected already", o.NativeID,
			o.Provider)
	})
}

func organisationNative(org string, o connection.Organisation) table.Key {
	return connection.NativeKey(org, o.Provider, "organisation/"+o.NativeID)
}
