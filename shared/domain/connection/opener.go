package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// MaxName is how many characters the name of an account may have.
const MaxName = 100

// Opener checks what callers send to connect accounts and whole organizations of them, and has the cloud asked whether it opens them.
type Opener struct{ P *platform.Platform }

// Prepare checks what can be known of an account without asking the cloud, and brings it into the spelling that is stored. What cannot be
// is fault.Invalid, what is in use fault.Conflict.
func (o Opener) Prepare(ctx context.Context, org string, a *inventory.Account) error {
	pr, err := findProvider(o.P, a.Provider)
	if err != nil {
		return err
	}
	if err = pr.checkNative(a); err != nil {
		return err
	}
	if err = o.CheckAccount(a); err != nil {
		return err
	}
	have, err := ListAccounts(ctx, o.P.Table, org)
	if err != nil {
		return err
	}
	return CheckVacant(*a, have)
}

// Open has the cloud asked whether the sealed credentials of a open it, stores it, together with more, and has it discovered.
func (o Opener) Open(ctx context.Context, org string, a inventory.Account, more ...table.Write) (Account, error) {
	if err := o.verify(ctx, org, &a, nil); err != nil {
		return Account{}, err
	}
	j, err := Create(ctx, o.P, org, &a, more...)
	if err != nil {
		return Account{}, err
	}
	discovery.StartMachine(ctx, o.P, org, j)
	return NewRecord(a), nil
}

// CheckAccount brings the name into shape, and refuses names, regions, endpoints and places of bills that cannot be: fault.Invalid names the field.
func (o Opener) CheckAccount(a *inventory.Account) error {
	var err error
	if a.Name, err = displayname.CleanName("name", a.Name, MaxName); err != nil {
		return err
	}
	regions := slices.Clone(a.Regions)
	slices.Sort(regions)
	a.Regions = slices.Compact(regions)
	for _, r := range a.Regions {
		if r == "" || len(r) > 64 {
			return fault.New(fault.Invalid, "regions: %.64q is not a region", r)
		}
	}
	if err = checkBilling(*a); err != nil || a.EndpointURL == "" {
		return err
	}
	if !o.P.Settings.CustomEndpoints {
		return fault.New(fault.Invalid, "endpointURL: this deployment accepts no custom endpoints")
	}
	return o.CheckReachable("endpointURL", a.EndpointURL)
}

// CheckReachable refuses an address of a field that could only lead into our own network. What a name leads to is looked at
// again whenever it is dialled. The address is not repeated: there may be a password in it.
func (o Opener) CheckReachable(field, address string) error {
	err := ssrfguard.Policy{Private: o.P.Settings.PrivateAddresses, AnyPort: true}.CheckAddress(address)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "%s: %s", field, fault.Message(err))
	}
	return nil
}

// verify seals the credentials into a (nil leaves those that it has), and has the cloud asked whether they open the
// account that it claims to be.
func (o Opener) verify(ctx context.Context, org string, a *inventory.Account, credentials map[string]string) error {
	if credentials != nil {
		sealed, err := inventory.SealCredentials(ctx, o.P.Sealer, inventory.SecretPlace(org, a.ID), credentials)
		if err != nil {
			return err
		}
		a.Sealed = sealed
	}
	if o.mustWait(*a) {
		return o.postpone(org, a)
	}
	var got inventory.Verified
	if err := o.Ask(ctx, inventory.Question{Ask: inventory.AskVerify, Org: org, Account: *a}, &got); err != nil {
		return err
	}
	if a.IDIsProvisional() {
		a.CloudAccountID = got.NativeID
	}
	a.Unverified = false
	if got.NativeID != a.CloudAccountID {
		return fault.New(fault.Invalid, "credentials: they open account %s, not %s", got.NativeID, a.CloudAccountID)
	}
	for _, r := range a.Regions {
		if got.Regions != nil && !slices.Contains(got.Regions, r) {
			return fault.New(fault.Invalid, "regions: %q is not enabled for the account", r)
		}
	}
	return nil
}

// Ask puts a question to the connector, and decodes its answer into answer.
func (o Opener) Ask(ctx context.Context, q inventory.Question, answer any) error {
	return inventory.AskConnector(ctx, o.P.Workers, q, answer)
}

// Change is an account as it was read, and as it is to be; Credentials are new ones, nil when those in After are to be used.
type Change struct {
	Before      inventory.Account
	After       *inventory.Account
	Credentials map[string]string
}

// Reopen verifies the account as it is to be, stores it, together with more, and has it discovered anew. Another endpoint without
// other credentials is fault.Invalid, an account that its cloud organisation has disconnected is fault.Conflict: then nothing is sent.
func (o Opener) Reopen(ctx context.Context, org string, c Change, more ...table.Write) error {
	a := c.After
	if err := cmp.Or(c.checkDestination(), c.Before.RefuseEnded()); err != nil {
		return err
	}
	a.Error = ""
	if err := o.verify(ctx, org, a, c.Credentials); err != nil {
		return err
	}
	a.Status, a.UpdatedAt = inventory.AccountConnecting, o.P.Clock.Now()
	if err := o.Replace(ctx, org, c, more...); err != nil {
		return err
	}
	j, err := discovery.StartDiscovery(ctx, o.P, org, a.ID)
	a.JobID = j.ID
	return err
}

// Replace stores what the account is to have other than before, if that is still what is stored: else fault.Conflict. Fields that a
// discovery writes are left alone.
func (o Opener) Replace(ctx context.Context, org string, c Change, more ...table.Write) error {
	old, a := c.Before, *c.After
	if err := c.checkDestination(); err != nil {
		return err
	}
	ws := []table.Write{table.Update(inventory.AccountKey(org, a.ID), []table.Change{
		table.Set("name", a.Name), table.Set("authMethod", a.AuthMethod),
		table.Set("permissionLevel", a.PermissionLevel),
		table.Set("regions", a.Regions), table.Set("endpointURL", a.EndpointURL), table.Set("sealed", a.Sealed),
		table.Set("billing", a.Billing),
		table.Set("status", a.Status), table.Set("error", a.Error), table.Set("updatedAt", a.UpdatedAt),
		markUnverified(a),
	}, unchanged(old))}
	if table.FoldName(old.Name) != table.FoldName(a.Name) {
		name, err := Reserve(NameKey(org, a.Name), a.ID)
		if err != nil {
			return err
		}
		ws = append(ws, name, Release(NameKey(org, old.Name), a.ID))
	}
	err := o.P.Table.Transact(ctx, append(ws, more...)...)
	if lost, ok := errors.AsType[*table.ConditionError](err); ok {
		if was, moved := lost.Old(0); moved && was.Data == nil {
			return ErrUnknown(a.ID)
		} else if moved {
			return fault.New(fault.Conflict, "the account was changed by somebody else meanwhile: read it again")
		}
		return ErrName(a)
	}
	if err != nil {
		return fmt.Errorf("change account %s: %w", a.ID, err)
	}
	return nil
}
