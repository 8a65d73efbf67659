package cloudorganisations

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ChangedCloudOrganisation is the body of PUT /cloud-organisations/{cloudOrganisationID}.
type ChangedCloudOrganisation struct {
	Name            rest.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"100"`
	AuthMethod      rest.Patch[string]            `json:"authMethod,omitzero" maxLength:"64" doc:"Needs credentials, too"`
	PermissionLevel rest.Patch[string]            `json:"permissionLevel,omitzero" enum:"read_only,read_write" doc:"Of every member, from the next synchronization"`
	Credentials     rest.Patch[map[string]string] `json:"credentials,omitzero" doc:"Replaces all of them"`
	Regions         rest.Patch[[]string]          `json:"regions,omitzero" maxItems:"100" doc:"Of every member, from the next synchronization; null for every enabled one"`
	Include         rest.Patch[MemberSelection]   `json:"include,omitzero" doc:"Replaces the selection; null or empty for all members"`
	Exclude         rest.Patch[MemberSelection]   `json:"exclude,omitzero" doc:"Replaces the selection; null or empty for no exclusion"`
}

type organisationChangeInput struct {
	OrganisationID string `path:"cloudOrganisationID" maxLength:"64"`
	Body           ChangedCloudOrganisation
}

// auditedOrganisation is the audit log's view of a changed organization. No other field shows that its credentials
// changed.
type auditedOrganisation struct {
	CloudOrganisation
	CredentialsReplaced bool `json:"credentialsReplaced"`
}

// updateOrganisation changes the sent fields. The members adopt the changes at their next synchronization.
func (s *service) updateOrganisation(ctx context.Context, in *organisationChangeInput) (CloudOrganisation, error) {
	org := identity.CallerOrg(ctx)
	old, err := s.readOrganisation(ctx, in.OrganisationID)
	if err != nil {
		return CloudOrganisation{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: newOrganisationRecord(old)})
	o := old
	if err = in.Body.applyTo(&o); err != nil {
		return CloudOrganisation{}, err
	}
	if err = s.checkOrganisation(&o); err != nil {
		return CloudOrganisation{}, err
	}
	if in.Body.Credentials.Sent {
		if err = s.openOrganisation(ctx, org, &o, in.Body.Credentials.Value); err != nil {
			return CloudOrganisation{}, err
		}
	}
	o.UpdatedAt = s.p.Clock.Now()
	if err = s.replaceOrganisation(ctx, org, old, o); err != nil {
		return CloudOrganisation{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: auditedOrganisation{newOrganisationRecord(o), in.Body.Credentials.Sent}})
	return newOrganisationRecord(o), nil
}

// check returns an error for members that cannot be null, or that must be sent together.
func (c *ChangedCloudOrganisation) check() error {
	for name, null := range map[string]bool{
		"name": c.Name.Null, "authMethod": c.AuthMethod.Null, "permissionLevel": c.PermissionLevel.Null,
		"credentials": c.Credentials.Null,
	} {
		if null {
			return fault.New(fault.Invalid, "%s: cannot be null", name)
		}
	}
	if c.AuthMethod.Sent && !c.Credentials.Sent {
		return fault.New(fault.Invalid, "credentials: are required when authMethod changes")
	}
	return nil
}

// applyTo changes o as the body says. A change that members adopt increments its revision.
func (c *ChangedCloudOrganisation) applyTo(o *connection.Organisation) error {
	if err := c.check(); err != nil {
		return err
	}
	c.Name.Apply(&o.Name)
	c.AuthMethod.Apply(&o.AuthMethod)
	c.PermissionLevel.Apply(&o.PermissionLevel)
	if c.Regions.Apply(&o.Regions); c.Regions.Sent {
		if err := connection.CheckRegions(o.Provider, o.Regions); err != nil {
			return err
		}
	}
	if c.Include.Sent {
		o.Include = connection.MemberSelection(c.Include.Value)
	}
	if c.Exclude.Sent {
		o.Exclude = connection.MemberSelection(c.Exclude.Value)
	}
	if c.Include.Sent || c.Exclude.Sent {
		o.Selected++
	}
	if c.Credentials.Sent || c.PermissionLevel.Sent || c.Regions.Sent {
		o.Revision++
	}
	return nil
}

// replaceOrganisation stores the differences between old and o, if old is still the stored state. It does not touch
// the fields that a synchronization writes.
func (s *service) replaceOrganisation(ctx context.Context, org string, old, o connection.Organisation) error {
	_, err := s.p.Table.Write(ctx, table.Update(connection.OrganisationKey(org, o.ID), []table.Change{
		table.Set("name", o.Name), table.Set("authMethod", o.AuthMethod),
		table.Set("permissionLevel", o.PermissionLevel), table.Set("regions", o.Regions),
		table.Set("include", o.Include), table.Set("exclude", o.Exclude), table.Set("sealed", o.Sealed),
		table.Set("revision", o.Revision), table.Set("selected", o.Selected),
		table.Set("updatedAt", o.UpdatedAt),
	}, table.Equal("updatedAt", old.UpdatedAt.Format(time.RFC3339Nano))))
	if _, moved := errors.AsType[*table.ConditionError](err); moved {
		return fault.New(fault.Conflict, "the cloud organisation was changed or synchronized meanwhile: read it again")
	}
	if err != nil {
		return fmt.Errorf("change cloud organisation %s: %w", o.ID, err)
	}
	return nil
}
