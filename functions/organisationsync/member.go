package organisationsync

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/cloudorganisation"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// maxName is how many characters the name of an account may have.
const maxName = 100

// connect sees to it that a member is an account. One that is an account already, whoever connected it, stays as it is.
func (r *round) connect(ctx context.Context, is cloudorganisation.Member, m cloud.Member) error {
	a, there := r.accounts[m.NativeID]
	switch {
	case there && a.OrganisationID == r.organisation.ID && isEnding(is.Status):
		return r.connectAgain(ctx, is, m, a)
	case there:
		return r.noteConnected(is, a.ID)
	case is.AccountID != "" && is.Status == cloudorganisation.Connected:
		is.Status, is.AccountID, is.Error = cloudorganisation.Removed, "", "its cloud account was deleted here"
		return r.note(is)
	}
	return r.connectNew(ctx, is, m)
}

// connectAgain opens the account of a member that had ended and is back.
func (r *round) connectAgain(ctx context.Context, is cloudorganisation.Member, m cloud.Member, a inventory.Account) error {
	if err := r.verify(ctx, &a, m); err != nil {
		return r.refuse(ctx, is, err)
	}
	if err := r.reopen(ctx, a); err != nil {
		return err
	}
	return r.noteConnected(is, a.ID)
}

// connectNew makes a member an account. Room is taken last, so that none is lost to a member that does not let us in.
func (r *round) connectNew(ctx context.Context, is cloudorganisation.Member, m cloud.Member) error {
	a := r.newAccount(m)
	err := r.verify(ctx, &a, m)
	if err == nil && !r.takeRoom() {
		err = fault.New(fault.Conflict, "the organization has %d cloud accounts, which is the most that it can have", connection.MaxAccounts)
	}
	if err != nil {
		return r.refuse(ctx, is, err)
	}
	accountID, err := r.create(ctx, a)
	if err != nil {
		return err
	}
	return r.noteConnected(is, accountID)
}

func (r *round) noteConnected(is cloudorganisation.Member, accountID string) error {
	is.Status, is.AccountID, is.Error = cloudorganisation.Connected, accountID, ""
	return r.note(is)
}

// refuse notes why a member does not let us in; the next hour tries again.
func (r *round) refuse(ctx context.Context, is cloudorganisation.Member, why error) error {
	if ctx.Err() != nil {
		r.postpone()
		return nil //nolint:nilerr // our time is over, which says nothing of the member
	}
	is.Status, is.Error = cloudorganisation.Refused, fault.Message(why)
	if e, ok := errors.AsType[*cloud.Error](why); ok {
		is.Error = e.Error()
	}
	return r.note(is)
}

func (r *round) newAccount(m cloud.Member) inventory.Account {
	o, now := r.organisation, r.p.Clock.Now()
	name, err := displayname.CleanName("name", m.Name, maxName)
	if err != nil {
		name = m.NativeID
	}
	return inventory.Account{
		ID: id.New("ca", now), Provider: o.Provider, CloudAccountID: m.NativeID, Name: name, AuthMethod: o.AuthMethod,
		PermissionLevel: o.PermissionLevel, Regions: o.Regions, EndpointURL: o.EndpointURL, OrganisationID: o.ID,
		Status: inventory.AccountConnecting, CreatedAt: now, UpdatedAt: now,
	}
}

// verify seals what opens the member into a, and asks the cloud whether it does.
func (r *round) verify(ctx context.Context, a *inventory.Account, m cloud.Member) error {
	credentials := maps.Clone(r.credentials)
	if m.AuthMethod != "" {
		a.AuthMethod, credentials = m.AuthMethod, m.Credentials
	}
	var err error
	a.Sealed, err = inventory.SealCredentials(ctx, r.p.Sealer, inventory.SecretPlace(r.in.Org, a.ID), credentials)
	if err != nil {
		return err
	}
	c, err := inventory.Clouds{Sealer: r.p.Sealer, Providers: r.providers}.Connect(ctx, r.in.Org, *a)
	if err != nil {
		return err
	}
	native, err := c.Identify(ctx)
	if err == nil && native != m.NativeID {
		err = fault.New(fault.Invalid, "its credentials open account %s", native)
	}
	return err
}

// create stores the account, and gives its id, or that of the one that somebody else stored meanwhile: another synchronization, or
// somebody by hand. A name that is taken gets the number beside it.
func (r *round) create(ctx context.Context, a inventory.Account) (string, error) {
	name := a.Name
	for range 2 {
		j, err := connection.Create(ctx, r.p, r.in.Org, &a)
		if err == nil {
			discovery.StartMachine(ctx, r.p, r.in.Org, j)
			return a.ID, nil
		}
		if !fault.Is(err, fault.Conflict) {
			return "", err
		}
		taken, err := table.Read[connection.Taken](ctx, r.p.Table, connection.NativeKey(r.in.Org, a.Provider, a.CloudAccountID))
		if err == nil || !fault.Is(err, fault.NotFound) {
			return taken.AccountID, err
		}
		suffix := " (" + a.CloudAccountID + ")"
		short := []rune(name)
		a.Name = string(short[:min(len(short), maxName-len([]rune(suffix)))]) + suffix
	}
	return "", fault.New(fault.Unavailable, "the name %q is taken again and again: try again", a.Name)
}

// reopen connects an account anew that had been disconnected, with what opens it now.
func (r *round) reopen(ctx context.Context, a inventory.Account) error {
	due, err := discovery.AddDue(r.in.Org, a.ID)
	if err != nil {
		return err
	}
	change := table.Update(inventory.AccountKey(r.in.Org, a.ID), []table.Change{
		table.Set("status", inventory.AccountConnecting), table.Remove("error"), table.Set("sealed", a.Sealed), table.Set("authMethod", a.AuthMethod),
		table.Set("updatedAt", r.p.Clock.Now()),
	}, table.Exists())
	if err = r.p.Table.Transact(table.Within(ctx, discovery.DuePrefix), change, due); err != nil {
		return fmt.Errorf("connect account %s again: %w", a.ID, err)
	}
	_, err = discovery.StartDiscovery(ctx, r.p, r.in.Org, a.ID)
	return err
}

// end disconnects the account of a member that has one through this organization, and takes it off the list of what is discovered.
func (r *round) end(ctx context.Context, is cloudorganisation.Member, s cloudorganisation.Status, why string) error {
	a, ours := r.ours(is.NativeID)
	if ours && (a.Status != inventory.AccountDisconnected || a.Error != why) {
		change := table.Update(inventory.AccountKey(r.in.Org, a.ID), []table.Change{
			table.Set("status", inventory.AccountDisconnected), table.Set("error", why), table.Set("updatedAt", r.p.Clock.Now()),
		}, table.Exists())
		err := r.p.Table.Transact(table.Within(ctx, discovery.DuePrefix), change, discovery.RemoveDue(a.ID))
		if _, gone := errors.AsType[*table.ConditionError](err); err != nil && !gone {
			return fmt.Errorf("disconnect account %s: %w", a.ID, err)
		}
	}
	is.Status, is.Error, is.AccountID = s, why, a.ID
	if !ours {
		is.AccountID = ""
	}
	return r.note(is)
}
