package cloudaccounts

import (
	"cmp"
	"context"
	"strings"

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
	Provider        rest.Patch[string]             `json:"provider,omitzero" maxLength:"32" doc:"Cannot change; accepted if it is the account's own"`
	CloudAccountID  rest.Patch[string]             `json:"cloudAccountID,omitzero" maxLength:"128" doc:"Cannot change; accepted if it is the account's own"`
	Name            rest.Patch[string]             `json:"name,omitzero" minLength:"1" maxLength:"100"`
	AuthMethod      rest.Patch[string]             `json:"authMethod,omitzero" maxLength:"64" doc:"Needs credentials, too"`
	PermissionLevel rest.Patch[string]             `json:"permissionLevel,omitzero" enum:"read_only,read_write"`
	Environment     rest.Patch[string]             `json:"environment,omitzero" enum:"prod,nonprod" doc:"The environment of the resources whose tags name none, for recommendations; null if they are of several"`
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
	if err := cmp.Or(c.checkNull(), c.checkFixed(a)); err != nil {
		return a, nil, err
	}
	c.Name.Apply(&a.Name)
	c.AuthMethod.Apply(&a.AuthMethod)
	c.PermissionLevel.Apply(&a.PermissionLevel)
	c.Environment.Apply(&a.Environment)
	c.Regions.Apply(&a.Regions)
	c.EndpointURL.Apply(&a.EndpointURL)
	c.Billing.Apply(&a.Billing)
	if err := s.opener.CheckAccount(&a); err != nil {
		return a, nil, err
	}
	if c.Regions.Sent {
		if err := connection.CheckRegions(a.Provider, a.Regions); err != nil {
			return a, nil, err
		}
	}
	if !c.Credentials.Sent {
		return a, nil, nil
	}
	credentials, err := s.opener.CheckCredentials(ctx, org, a, c.Credentials.Value)
	return a, credentials, err
}

// checkFixed refuses another value for fields that identify the account. A client may send back what it has read.
func (c *ChangedAccount) checkFixed(a inventory.Account) error {
	for _, f := range []struct {
		name, own string
		sent      rest.Patch[string]
	}{{"provider", a.Provider, c.Provider}, {"cloudAccountID", a.CloudAccountID, c.CloudAccountID}} {
		if f.sent.Sent && !strings.EqualFold(f.sent.Value, f.own) {
			return fault.New(fault.Invalid,
				"%s: it is %q and cannot change to %.128q: connect the other account by POST "+
					"/cloud-accounts", f.name, f.own, f.sent.Value)
		}
	}
	return nil
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
