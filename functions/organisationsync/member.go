package organisationsync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/displayname"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// connectMember makes sure that a member has an account. An account that was connected otherwise stays as it is. An
// account of an organization that is no longer connected, or that has released it, is taken over. Accounts that must
// be opened for that are opened later by openMembers.
func (r *round) connectMember(is connection.Member) error {
	a, there := r.accounts[is.NativeID]
	switch {
	case there && a.OrganisationID == r.organisation.ID && !r.mustOpen(is, a):
		return r.noteConnected(is, a.ID)
	case there && (a.OrganisationID == "" && a.ReleasedFrom == "" ||
		r.others[a.OrganisationID] && a.Status != inventory.AccountDisconnected):
		return r.noteDuplicate(is, a)
	case !there && is.AccountID != "" && is.Status == connection.MemberConnected:
		return r.noteRemoved(is)
	}
	r.opening[is.NativeID] = is
	return nil
}

// noteRemoved records that the member's account was deleted in this service.
func (r *round) noteRemoved(is connection.Member) error {
	is.Status, is.AccountID, is.Error = connection.MemberRemoved, "", "its cloud account was deleted here"
	is.Ending, is.MissingSince, is.Awaits = "", time.Time{}, ""
	return r.noteMember(is)
}

// mustOpen reports whether the account of a member must be opened again: it had ended, or the settings for opening it
// have changed.
func (r *round) mustOpen(is connection.Member, a inventory.Account) bool {
	ended := is.Status != connection.MemberConnected && a.Status == inventory.AccountDisconnected
	return ended || is.Revision != r.organisation.Revision
}

// connectAgain opens the account of a member that had ended and is back, or whose settings have changed.
func (r *round) connectAgain(ctx context.Context, is connection.Member, m cloud.Member,
	a inventory.Account,
) error {
	o := r.organisation
	if is.Revision != o.Revision || a.OrganisationID != o.ID {
		a.PermissionLevel, a.Regions, a.OrganisationID = o.PermissionLevel, o.Regions, o.ID
	}
	// the organization's credentials are sent only to its own endpoint
	a.AuthMethod, a.EndpointURL = o.AuthMethod, o.EndpointURL
	if err := r.verifyAccount(ctx, &a, m); err != nil {
		return r.noteRefusal(ctx, is, err)
	}
	if err := r.reopenAccount(ctx, a); err != nil {
		return err
	}
	return r.noteConnected(is, a.ID)
}

// connectNew creates an account for a member, if there is room for one more.
func (r *round) connectNew(ctx context.Context, is connection.Member, m cloud.Member) error {
	is.AccountID = "" // of one that was connected by hand, and deleted
	a := r.newAccount(m)
	if err := r.verifyAccount(ctx, &a, m); err != nil {
		return r.noteRefusal(ctx, is, err)
	}
	accountID, err := r.createAccount(ctx, a)
	if errors.Is(err, connection.ErrFull) {
		return r.noteRefusal(ctx, is, err)
	}
	if err != nil {
		return err
	}
	return r.noteConnected(is, accountID)
}

func (r *round) noteConnected(is connection.Member, accountID string) error {
	is.Status, is.AccountID, is.Error, is.Revision = connection.MemberConnected, accountID, "", r.organisation.Revision
	is.EndedAt = time.Time{}
	return r.noteMember(is)
}

// noteDuplicate records that the member's account was connected otherwise: by hand, or through another organization.
// Neither this synchronization nor the end of the organization changes it.
func (r *round) noteDuplicate(is connection.Member, a inventory.Account) error {
	is.Status, is.AccountID, is.Error = connection.MemberDuplicate, a.ID,
		"it was connected by hand before, and stays as it is: delete the account to have it connected from here"
	if a.OrganisationID != "" {
		is.Error = "it is connected through " + a.OrganisationID +
			", and stays so: leave it out there to have it connected from here"
	}
	return r.noteMember(is)
}

// noteRefusal records why a member refuses the connection. The next hour tries again.
func (r *round) noteRefusal(ctx context.Context, is connection.Member, why error) error {
	if ctx.Err() != nil {
		return errNoTime // which says nothing of the member
	}
	is.Status, is.Error = connection.MemberRefused, fault.Message(why)
	if e, ok := errors.AsType[*cloud.Error](why); ok {
		is.Error = e.Error()
	}
	return r.noteMember(is)
}

func (r *round) newAccount(m cloud.Member) inventory.Account {
	o, now := r.organisation, r.p.Clock.Now()
	name, err := displayname.CleanName("name", m.Name, connection.MaxName)
	if err != nil {
		name = m.NativeID
	}
	return inventory.Account{
		ID: id.New("ca", now), Provider: o.Provider, CloudAccountID: m.NativeID, Name: name, AuthMethod: o.AuthMethod,
		PermissionLevel: o.PermissionLevel, Regions: o.Regions, EndpointURL: o.EndpointURL, OrganisationID: o.ID,
		Status: inventory.AccountConnecting, CreatedAt: now, UpdatedAt: now,
	}
}

// verifyAccount seals the member's credentials into a, and asks the cloud whether they work.
func (r *round) verifyAccount(ctx context.Context, a *inventory.Account, m cloud.Member) error {
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
	switch native, err := c.Identify(ctx); {
	case err != nil:
		return err
	case native != m.NativeID:
		return fault.New(fault.Invalid, "its credentials open account %s", native)
	case m.AuthMethod != "":
		return nil // a role of its own lists the principals that may use it
	}
	return probeReads(ctx, c)
}

// probeReads refuses a member where the credentials of the connection may read nothing: a role somewhere in the
// member shows them its name only.
func probeReads(ctx context.Context, c cloud.Conn) error {
	all, err := c.Permissions(ctx)
	if err != nil {
		return err
	}
	why := ""
	for _, p := range all {
		if p.Capability == "discover" && p.Status != "denied" {
			return nil
		}
		why = cmp.Or(why, p.Message)
	}
	return fault.New(fault.Invalid, "the credentials of the organization may read nothing in it: %s", why)
}

// createAccount stores the account and returns its ID, or the ID of an account for the same member that was stored
// meanwhile, by another synchronization or by hand. If its name is taken, its number is appended. The accounts of a
// round are stored one after another, because concurrent writes would conflict.
func (r *round) createAccount(ctx context.Context, a inventory.Account) (string, error) {
	r.storing.Lock()
	defer r.storing.Unlock()
	if r.full != nil {
		return "", r.full
	}
	name := a.Name
	for range 2 {
		j, err := connection.Create(ctx, r.p, r.in.Org, &a)
		if err == nil {
			discovery.StartMachine(ctx, r.p, r.in.Org, j)
			return a.ID, nil
		}
		if errors.Is(err, connection.ErrFull) {
			r.full = err
		}
		if !fault.Is(err, fault.Conflict) || r.full != nil || table.IsTurnLost(err) {
			return "", err
		}
		taken, err := table.Read[connection.Taken](ctx, r.p.Table,
			connection.NativeKey(r.in.Org, a.Provider, a.CloudAccountID))
		if err == nil || !fault.Is(err, fault.NotFound) {
			return taken.AccountID, err
		}
		suffix := " (" + a.CloudAccountID + ")"
		short := []rune(name)
		a.Name = string(short[:min(len(short), connection.MaxName-len([]rune(suffix)))]) + suffix
	}
	return "", fault.New(fault.Unavailable, "the name %q is taken again and again: try again", a.Name)
}

// reopenAccount connects a disconnected account again, with its present settings.
func (r *round) reopenAccount(ctx context.Context, a inventory.Account) error {
	due, err := discovery.AddDue(r.in.Org, a.ID)
	if err != nil {
		return err
	}
	change := table.Update(inventory.AccountKey(r.in.Org, a.ID), []table.Change{
		table.Set("status", inventory.AccountConnecting), table.Remove("error"), table.Remove("unverified"),
		table.Set("sealed", a.Sealed),
		table.Set("authMethod", a.AuthMethod),
		table.Set("permissionLevel", a.PermissionLevel), table.Set("regions", a.Regions),
		table.Set("endpointURL", a.EndpointURL), table.Set("organisationID", a.OrganisationID),
		table.Remove("releasedFrom"), table.Remove("ended"),
		table.Set("updatedAt", r.p.Clock.Now()),
	}, table.Exists())
	if err = r.p.Table.Transact(table.Within(ctx, discovery.DuePrefix), change, due); err != nil {
		return fmt.Errorf("connect account %s again: %w", a.ID, err)
	}
	_, err = discovery.StartDiscovery(ctx, r.p, r.in.Org, a.ID)
	return err
}
