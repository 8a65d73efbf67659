package connection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// MaxName is the maximum length of an account name, in characters.
const MaxName = 100

// Opener validates requests to connect accounts and cloud organizations, and asks the cloud whether the credentials
// are accepted.
type Opener struct{ P *platform.Platform }

// Prepare validates an account without asking the cloud, and converts it to its stored spelling. It returns
// fault.Invalid for invalid values and fault.Conflict for a native ID or name in use.
func (o Opener) Prepare(ctx context.Context, org string, a *inventory.Account) error {
	pr, err := findProvider(o.P, a.Provider)
	if err != nil {
		return err
	}
	if err = pr.checkNative(a); err != nil {
		return err
	}
	if err = cmp.Or(o.CheckAccount(a), CheckRegions(a.Provider, a.Regions)); err != nil {
		return err
	}
	have, err := ListAccounts(ctx, o.P.Table, org)
	if err != nil {
		return err
	}
	return CheckVacant(*a, have)
}

// Open asks the cloud to verify the sealed credentials of a, stores the account together with more, and starts its
// discovery.
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

// CheckAccount normalizes the name and validates names, regions, endpoints and locations of bills. The error is
// fault.Invalid and names the field.
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

// CheckRegions returns fault.Invalid for a name that is no region of the provider, before any cloud is asked. Check
// only regions that a request sends: a stored account may use a region that an earlier or later version knows.
func CheckRegions(provider string, regions []string) error {
	for _, r := range regions {
		if !cloud.IsRegion(provider, r) {
			return fault.New(fault.Invalid,
				"regions: %.64q is not a region of %s: correct it, or leave out regions to "+
					"use every region that is enabled", r, provider)
		}
	}
	return nil
}

// CheckReachable returns an error for an address that can only be in our own network. The IP addresses of a host name
// are checked again at each dial. The error does not contain the address, which may contain a password.
func (o Opener) CheckReachable(field, address string) error {
	err := ssrfguard.Policy{Private: o.P.Settings.PrivateAddresses, AnyPort: true}.CheckAddress(address)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "%s: %s", field, fault.Message(err))
	}
	return nil
}

// verify seals the credentials into a (nil keeps the current ones) and asks the cloud whether they open the account
// with a's number.
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
			return errNotEnabled(r, got.Regions)
		}
	}
	return nil
}

// errNotEnabled returns the error for a region that the account does not list among its enabled ones.
func errNotEnabled(region string, enabled []string) error {
	hint := ""
	if len(enabled) > 0 {
		hint = "; enabled are " + strings.Join(enabled, ", ")
	}
	return fault.New(fault.Invalid,
		"regions: %q is not enabled for the account: enable it at the provider, or leave it out%s", region, hint)
}

// Ask sends a question to the connector and decodes the answer into answer.
func (o Opener) Ask(ctx context.Context, q inventory.Question, answer any) error {
	return inventory.AskConnector(ctx, o.P.Workers, q, answer)
}

// Change is an account as it was read and its new version. Credentials are new ones, or nil to use those in After.
type Change struct {
	Before      inventory.Account
	After       *inventory.Account
	Credentials map[string]string
}

// Reopen verifies the new version of the account, stores it together with more, and starts its discovery. It returns
// fault.Invalid for another endpoint without new credentials, and fault.Conflict for an account that its cloud
// organisation has disconnected. In both cases it sends nothing to the cloud.
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

// Replace stores the changed fields of the account together with more. It returns fault.Conflict when the account has
// changed since it was read. It does not write the fields that a discovery writes.
func (o Opener) Replace(ctx context.Context, org string, c Change, more ...table.Write) error {
	old, a := c.Before, *c.After
	if err := c.checkDestination(); err != nil {
		return err
	}
	ws := []table.Write{table.Update(inventory.AccountKey(org, a.ID), []table.Change{
		table.Set("name", a.Name), table.Set("authMethod", a.AuthMethod),
		table.Set("permissionLevel", a.PermissionLevel), table.Set("environment", a.Environment),
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
