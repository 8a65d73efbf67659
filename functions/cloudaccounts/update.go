package cloudaccounts

import (
	"context"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// ChangedAccount is the body of PUT /cloud-accounts/{accountID}.
type ChangedAccount struct {
	Name            rest.Patch[string]             `json:"name,omitzero" minLength:"1" maxLength:"100"`
	AuthMethod      rest.Patch[string]             `json:"authMethod,omitzero" maxLength:"64" doc:"Needs credentials, too"`
	PermissionLevel rest.Patch[string]             `json:"permissionLevel,omitzero" enum:"read_only,read_write"`
	Credentials     rest.Patch[map[string]string]  `json:"credentials,omitzero" doc:"Replaces all of them"`
	Regions         rest.Patch[[]string]           `json:"regions,omitzero" maxItems:"100" doc:"null for every enabled region"`
	EndpointURL     rest.Patch[string]             `json:"endpointURL,omitzero" maxLength:"512" doc:"A change needs credentials, too; null restores the provider's own"`
	Billing         rest.Patch[cloud.BillSettings] `json:"billing,omitzero" doc:"Replaces all of it; null makes the service search for the bills"`
}

type changeInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
	Body      ChangedAccount
}

func (s *service) updateAccount(ctx context.Context, in *changeInput) (connection.Account, error) {
	org := identity.CallerOrg(ctx)
	old, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return connection.Account{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: connection.NewRecord(old)})
	a, credentials, err := s.changedAccount(ctx, org, old, in.Body)
	if err != nil {
		return connection.Account{}, err
	}
	reopened := in.Body.AuthMethod.Sent || in.Body.Credentials.Sent || in.Body.Regions.Sent || in.Body.EndpointURL.Sent
	if reopened {
		err = s.opener.Reopen(ctx, org, connection.Change{Before: old, After: &a, Credentials: credentials})
	} else {
		a.UpdatedAt = s.p.Clock.Now()
		err = s.opener.Replace(ctx, org, connection.Change{Before: old, After: &a})
	}
	if err != nil {
		return connection.Account{}, err
	}
	audit.NoteChange(ctx,
		audit.Change{After: connection.AuditedAccount{
			Account:             connection.NewRecord(a),
			CredentialsReplaced: credentials != nil,
		}})
	return connection.NewRecord(a), nil
}

// changedAccount returns the changed account and its new credentials, or nil if they stay.
func (s *service) changedAccount(ctx context.Context, org string, a inventory.Account,
	c ChangedAccount) (inventory.Account,
	map[string]string, error,
) {
	if err := c.checkNull(); err != nil {
		return a, nil, err
	}
	c.Name.Apply(&a.Name)
	c.AuthMethod.Apply(&a.AuthMethod)
	c.PermissionLevel.Apply(&a.PermissionLevel)
	c.Regions.Apply(&a.Regions)
	c.EndpointURL.Apply(&a.EndpointURL)
	c.Billing.Apply(&a.Billing)
	if err := s.opener.CheckAccount(&a); err != nil {
		return a, nil, err
	}
	if !c.Credentials.Sent {
		return a, nil, nil
	}
	credentials, err := s.opener.CheckCredentials(ctx, org, a, c.Credentials.Value)
	return a, credentials, err
}

// checkNull refuses null for fields that need a value.
func (c *ChangedAccount) checkNull() error {
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
