package organisationsync

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	stretch = 8 * time.Minute // of one run; the next run continues with the rest
	width   = 8               // members that are opened at once
)

// synchronize lists the members and brings each into its desired state. Completed steps are not repeated, so a run
// continues where an earlier run ended, even if that was killed.
func (w *worker) synchronize(ctx context.Context, in connection.SyncInput) (Progress, error) {
	o, err := w.readOrganisation(ctx, in)
	if err != nil || o.Sync.JobID != in.JobID || o.Sync.Status != connection.SyncRunning {
		return Progress{SyncInput: in, Done: true}, err
	}
	r := &round{worker: w, in: in, organisation: o, until: w.p.Clock.Now().Add(stretch)}
	found, err := r.listMembers(ctx)
	if e, told := errors.AsType[*cloud.Error](err); told && !e.Class.Retryable() || fault.Is(err, fault.Invalid) {
		o.Status, o.Error = inventory.AccountDegraded, "its members cannot be listed: "+err.Error()
		return Progress{SyncInput: in, Done: true}, w.finishSync(ctx, in, o)
	}
	if err == nil {
		err = r.settleAll(ctx, found)
	}
	if err != nil || r.left {
		return Progress{SyncInput: in, WaitSeconds: 1},
			errors.Join(err, connection.SaveSyncCursor(ctx, w.p, in, r.organisation.Sync))
	}
	o = r.organisation
	o.Status, o.Error, o.Sync.Members = inventory.AccountConnected, "", r.countStatuses()
	mails, err := r.tellOwners(ctx, &o)
	if err != nil {
		return Progress{SyncInput: in, WaitSeconds: 1}, err
	}
	return Progress{SyncInput: in, Done: true}, w.finishSync(ctx, in, o, mails...)
}

// round is one run over the members of an organization.
type round struct {
	*worker
	in           connection.SyncInput
	organisation connection.Organisation
	credentials  map[string]string // of the connection
	accounts     map[string]inventory.Account
	others       map[string]bool // the other connected organizations, by their ids
	known        map[string]connection.Member
	until        time.Time

	left    bool // there was no time for all
	listed  map[string]cloud.Member
	opening map[string]connection.Member // those that have to be opened
	ending  []connection.Member          // those with a connected account that is to be disconnected

	mu      sync.Mutex
	members []connection.Member // as they are now
	changed []table.Write

	storing sync.Mutex // held while an account is stored
	full    error      // says that there was no room for an account
}

// listMembers reads the members from the cloud, and the stored members and accounts.
func (r *round) listMembers(ctx context.Context) ([]cloud.Member, error) {
	a, err := r.openOrganisation(ctx)
	if err != nil {
		return nil, err
	}
	found, err := a.Members(ctx, r.organisation.AsksTags())
	if err != nil {
		return nil, err
	}
	known, err := connection.ListMembers(ctx, r.p.Table, r.in.Org, r.organisation.ID)
	if err != nil {
		return nil, err
	}
	have, err := connection.ListAccounts(ctx, r.p.Table, r.in.Org)
	if err != nil {
		return nil, err
	}
	if err = r.listOthers(ctx); err != nil {
		return nil, err
	}
	r.known, r.accounts = map[string]connection.Member{}, map[string]inventory.Account{}
	for _, m := range known {
		r.known[m.NativeID] = m
	}
	for _, h := range have {
		if h.Provider == r.organisation.Provider {
			r.accounts[h.CloudAccountID] = h
		}
	}
	return found, nil
}

func (r *round) listOthers(ctx context.Context) error {
	all, err := connection.ListOrganisations(ctx, r.p.Table, r.in.Org)
	r.others = map[string]bool{}
	for i := range all {
		r.others[all[i].ID] = all[i].ID != r.organisation.ID
	}
	return err
}

// openOrganisation connects with the credentials of the organization.
func (r *round) openOrganisation(ctx context.Context) (cloud.Organisations, error) {
	a := r.organisation.Account()
	var err error
	if r.credentials, err = inventory.OpenCredentials(ctx, r.p.Sealer, inventory.SecretPlace(r.in.Org, a.ID),
		a.Sealed); err != nil {
		return nil, err
	}
	c, err := inventory.Clouds{Sealer: r.p.Sealer, Providers: r.providers}.Connect(ctx, r.in.Org, a)
	if err != nil {
		return nil, err
	}
	if got, ok := c.(cloud.Organisations); ok {
		return got, nil
	}
	return nil, fault.New(fault.Invalid, "provider %s knows no organizations", a.Provider)
}

// settleAll brings all members into their desired state, opens as many as needed and possible in the time, several at
// once, and stores the changes.
func (r *round) settleAll(ctx context.Context, found []cloud.Member) error {
	r.listed, r.opening = map[string]cloud.Member{}, map[string]connection.Member{}
	errs := make([]error, 0, len(found))
	for _, m := range found {
		r.listed[m.NativeID] = m
		errs = append(errs, r.settleMember(ctx, m))
	}
	for native, m := range r.known {
		if _, there := r.listed[native]; !there {
			errs = append(errs, r.endMember(ctx, m, connection.MemberLeft))
		}
	}
	errs = append(errs, r.endMembers(ctx), r.openMembers(ctx))
	err := r.p.Table.BatchWrite(ctx, r.changed...)
	return errors.Join(append(errs, fault.Wrap("store members of "+r.organisation.ID, err))...)
}

// settleMember brings one member into its desired state, or marks it to be opened or ended.
func (r *round) settleMember(ctx context.Context, m cloud.Member) error {
	is := r.known[m.NativeID]
	is.NativeID, is.Name, is.Unit = m.NativeID, m.Name, unitPath(m.Units)
	switch {
	case is.Status == connection.MemberRemoved:
		return r.noteMember(is)
	case m.Closed:
		return r.endMember(ctx, is, connection.MemberClosed)
	case !r.organisation.Wants(m):
		return r.endMember(ctx, is, connection.MemberExcluded)
	}
	is.Ending, is.MissingSince, is.Awaits, is.Selected = "", time.Time{}, "", r.organisation.Selected
	return r.connectMember(is)
}

// unitPath returns the path of units from the root to a member.
func unitPath(units []cloud.Unit) string {
	names := make([]string, len(units))
	for i, u := range units {
		names[len(units)-1-i] = u.Name
		if u.Name == "" {
			names[len(units)-1-i] = u.ID
		}
	}
	return strings.Join(names, "/")
}

// noteMember records the state of a member, and stores it if it has changed.
func (r *round) noteMember(m connection.Member) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members = append(r.members, m)
	if r.known[m.NativeID] == m {
		return nil
	}
	put, err := connection.PutMember(r.in.Org, r.organisation.ID, m)
	r.changed = append(r.changed, put)
	return err
}

func (r *round) countStatuses() map[connection.MemberStatus]int {
	out := map[connection.MemberStatus]int{}
	for _, m := range r.members {
		out[m.Shown()]++
	}
	return out
}

// ownAccount returns the account of a member if it was connected through this organization.
func (r *round) ownAccount(native string) (inventory.Account, bool) {
	a, ok := r.accounts[native]
	return a, ok && a.OrganisationID == r.organisation.ID
}
