package cloudaccounts

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// ChangedAccount is the body of PUT /cloud-accounts/{accountID}.
type ChangedAccount struct {
	Name            rest.Patch[string]            `json:"name,omitzero" minLength:"1" maxLength:"100"`
	AuthMethod      rest.Patch[string]            `json:"authMethod,omitzero" maxLength:"64" doc:"Needs credentials beside it"`
	PermissionLevel rest.Patch[string]            `json:"permissionLevel,omitzero" enum:"read_only,read_write"`
	Credentials     rest.Patch[map[string]string] `json:"credentials,omitzero" doc:"Replaces all of them"`
	Regions         rest.Patch[[]string]          `json:"regions,omitzero" maxItems:"100" doc:"null discovers every enabled region"`
	EndpointURL     rest.Patch[string]            `json:"endpointURL,omitzero" maxLength:"512" doc:"null goes back to the provider's own"`
}

type changeInput struct {
	AccountID string `path:"accountID" maxLength:"64"`
	Body      ChangedAccount
}

func (s *service) updateAccount(ctx context.Context, in *changeInput) (Account, error) {
	org := identity.CallerFrom(ctx).Org
	old, err := s.readAccount(ctx, org, in.AccountID)
	if err != nil {
		return Account{}, err
	}
	audit.NoteChange(ctx, audit.Change{Before: newAccountRecord(old)})
	a, credentials, err := s.changed(ctx, org, old, in.Body)
	if err != nil {
		return Account{}, err
	}
	reopened := in.Body.AuthMethod.Sent || in.Body.Credentials.Sent || in.Body.Regions.Sent || in.Body.EndpointURL.Sent
	if reopened {
		err = s.reopen(ctx, org, change{old, &a, credentials})
	} else {
		a.UpdatedAt = s.p.Clock.Now()
		err = s.replace(ctx, org, old, a)
	}
	if err != nil {
		return Account{}, err
	}
	audit.NoteChange(ctx, audit.Change{After: noted{newAccountRecord(a), credentials != nil}})
	return newAccountRecord(a), nil
}

// change is an account as it was read, and as it is to be; credentials are new ones, nil when those in after are to be used.
type change struct {
	before      inventory.Account
	after       *inventory.Account
	credentials map[string]string
}

// reopen verifies the account as it is to be, stores it, together with more, and has it discovered anew.
func (s *service) reopen(ctx context.Context, org string, c change, more ...table.Write) error {
	a := c.after
	if err := s.verifyAccount(ctx, org, a, c.credentials); err != nil {
		return err
	}
	a.Status, a.Error, a.UpdatedAt = inventory.AccountConnecting, "", s.p.Clock.Now()
	if err := s.replace(ctx, org, c.before, *a, more...); err != nil {
		return err
	}
	j, err := discovery.StartDiscovery(ctx, s.p, org, a.ID)
	a.JobID = j.ID
	return err
}

// noted is what the record of a change shows of an account: its credentials are part of no other field.
type noted struct {
	Account
	CredentialsReplaced bool `json:"credentialsReplaced"`
}

// changed returns the account as it will be, and its new credentials, nil when they stay.
func (s *service) changed(ctx context.Context, org string, a inventory.Account, c ChangedAccount) (inventory.Account, map[string]string, error) {
	if err := c.clearable(); err != nil {
		return a, nil, err
	}
	c.Name.Apply(&a.Name)
	c.AuthMethod.Apply(&a.AuthMethod)
	c.PermissionLevel.Apply(&a.PermissionLevel)
	c.Regions.Apply(&a.Regions)
	c.EndpointURL.Apply(&a.EndpointURL)
	if err := s.checkAccount(&a); err != nil {
		return a, nil, err
	}
	if !c.Credentials.Sent {
		return a, nil, nil
	}
	credentials, err := s.checkCredentials(ctx, org, a, c.Credentials.Value)
	return a, credentials, err
}

// clearable refuses null where there must be a value.
func (c *ChangedAccount) clearable() error {
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

// replace stores what a has other than old, if old is still what is stored. Fields that a discovery writes are left alone.
//
//nolint:revive // one account before and after, and what goes with it
func (s *service) replace(ctx context.Context, org string, old, a inventory.Account, more ...table.Write) error {
	ws := []table.Write{table.Update(inventory.AccountKey(org, a.ID), []table.Change{
		table.Set("name", a.Name), table.Set("authMethod", a.AuthMethod), table.Set("permissionLevel", a.PermissionLevel),
		table.Set("regions", a.Regions), table.Set("endpointURL", a.EndpointURL), table.Set("sealed", a.Sealed),
		table.Set("status", a.Status), table.Set("error", a.Error), table.Set("updatedAt", a.UpdatedAt),
	}, table.Equal("updatedAt", old.UpdatedAt.Format(time.RFC3339Nano)))}
	if !strings.EqualFold(old.Name, a.Name) {
		name, err := connection.Reserve(connection.NameKey(org, a.Name), a.ID)
		if err != nil {
			return err
		}
		ws = append(ws, name, connection.Release(connection.NameKey(org, old.Name), a.ID))
	}
	err := s.p.Table.Transact(ctx, append(ws, more...)...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if was, moved := lost.Old(0); moved && was.Data == nil {
			return errUnknownAccount(a.ID)
		} else if moved {
			return fault.New(fault.Conflict, "the account was changed by somebody else meanwhile: read it again")
		}
		return connection.ErrName(a)
	}
	if err != nil {
		return fmt.Errorf("change account %s: %w", a.ID, err)
	}
	return nil
}
