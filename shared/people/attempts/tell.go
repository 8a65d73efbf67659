package attempts

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Access are the partitions that a function must declare if it tells.
var Access = table.Access{
	Reads: []table.Partition{
		identity.AddressPartition, identity.UserPartition, identity.MemberPartition, identity.MetaPartition,
	},
	Writes: []table.Partition{Partition, ratelimit.Partition, audit.WaitingPartition, audit.DuePartition},
}

// rowsPerOrg limits the rows of refused attempts of an organization. The others are one row, when the hour is over.
var rowsPerOrg = ratelimit.Rule{Name: "attempt-rows", Max: 100, Per: window}

const (
	notesPage = 100
	// each is how many attempts of a kind have a row of their own if they come one after the other. From then on a row
	// is written whenever their number has doubled, and when the window is over.
	each = 10
	// settled is how long after its window a count is final, for processes with slow clocks.
	settled = 10 * time.Minute
	// orgsAtOnce is how many organizations of a user are told in one transaction.
	orgsAtOnce = 30
)

// unlisted is the action of the count of attempts that have no row, because of rowsPerOrg.
const unlisted = "attemptsNotListed"

// teller turns counts into rows.
type teller struct {
	*Attempts
	log  *audit.Log
	org  string // the organization whose members' attempts are told; "" means all
	rows int
}

// Tell writes the rows of all counts that are due, until enough returns true, and returns how many it wrote. A count
// that fails does not affect the others.
func (a *Attempts) Tell(ctx context.Context, enough func() bool) (int, error) {
	t := &teller{Attempts: a, log: audit.New(a.Platform)}
	err := t.tellAll(ctx, enough)
	return t.rows, err
}

// TellOrganisation is Tell for the members of one organization, so that a reader of its log finds the attempts of
// before. Without counts it is one round trip.
func (a *Attempts) TellOrganisation(ctx context.Context, org string, enough func() bool) error {
	t := &teller{Attempts: a, log: audit.New(a.Platform), org: org}
	return t.tellAll(ctx, enough)
}

func (t *teller) tellAll(ctx context.Context, enough func() bool) error {
	var errs []error
	for q := (table.Query{PK: countsPK, Limit: notesPage}); !enough(); {
		page, err := t.Table.Query(table.Within(ctx, prefix), q)
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("read attempts: %w", err))...)
		}
		errs = append(errs, t.tellNotes(ctx, page.Items, enough))
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	return errors.Join(errs...)
}

// tellNotes writes the rows of the counts that are due.
func (t *teller) tellNotes(ctx context.Context, items []table.Item, enough func() bool) error {
	var notes []note
	var errs []error
	for _, it := range items {
		n, err := table.Decode[note](it)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if n.key = it.Key; n.isDue(t.Clock.Now()) || n.isOver(t.Clock.Now()) {
			notes = append(notes, n)
		}
	}
	users, err := t.findUsers(ctx, notes)
	if err != nil {
		return errors.Join(append(errs, err)...)
	}
	for _, n := range notes {
		if enough() {
			break
		}
		if err = t.tellNote(ctx, n, users[n.Who]); err != nil {
			errs = append(errs, fmt.Errorf("tell %s: %w", n.key.SK, err))
		}
	}
	return errors.Join(errs...)
}

// isDue reports whether a row is to be written now.
func (n *note) isDue(now time.Time) bool {
	switch {
	case n.Told >= n.N:
		return false
	case n.isOver(now):
		return true
	case n.Action == unlisted:
		return false
	}
	return n.Told < each || n.N >= 2*n.Told
}

// isOver reports whether the count is final.
func (n *note) isOver(now time.Time) bool { return now.Sub(n.Begin) >= window+settled }

// findUsers returns the users of counts by Who. Addresses without an account are missing. If the teller tells one
// organization, so are the users who are no members of it.
func (t *teller) findUsers(ctx context.Context, notes []note) (map[string]identity.User, error) {
	ids, err := t.findUserIDs(ctx, notes)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	var keys []table.Key
	for _, id := range ids {
		if keys = append(keys, identity.UserKey(id)); t.org != "" {
			keys = append(keys, identity.MemberKey(t.org, id))
		}
	}
	found, err := t.readAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	out := map[string]identity.User{}
	for who, id := range ids {
		row, member := found[identity.UserKey(id)], found[identity.MemberKey(t.org, id)]
		if row.Data == nil || t.org != "" && member.Data == nil {
			continue
		}
		if out[who], err = table.Decode[identity.User](row); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// findUserIDs returns the user IDs of counts by Who.
func (t *teller) findUserIDs(ctx context.Context, notes []note) (map[string]string, error) {
	out := map[string]string{}
	var keys []table.Key
	for _, n := range notes {
		if n.Action == unlisted {
			continue
		}
		if strings.HasPrefix(n.Who, "usr_") {
			out[n.Who] = n.Who
		} else if k := identity.AddressKeyOf(n.Who); !slices.Contains(keys, k) {
			keys = append(keys, k)
		}
	}
	found, err := t.readAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	for k, it := range found {
		row, err := table.Decode[identity.AddressRow](it)
		if err != nil {
			return nil, err
		}
		out[strings.TrimPrefix(k.PK, identity.AddressPrefix)] = row.User
	}
	return out, nil
}

// readAll reads rows of users, addresses and members.
func (t *teller) readAll(ctx context.Context, keys []table.Key) (map[table.Key]table.Item, error) {
	out := map[table.Key]table.Item{}
	ctx = table.Within(ctx, identity.UserPrefix, identity.AddressPrefix, table.OrgPK(t.org))
	for some := range slices.Chunk(keys, notesPage) {
		found, err := t.Table.BatchGet(ctx, some...)
		if err != nil {
			return nil, fmt.Errorf("read whose attempts %d are: %w", len(some), err)
		}
		for k, it := range found {
			out[k] = it
		}
	}
	return out, nil
}

// tellNote writes the rows of a count, one in each organization that is to be told, and removes a count that is final.
func (t *teller) tellNote(ctx context.Context, n note, u identity.User) error {
	orgs, err := t.organisationsOf(ctx, n, u)
	if err != nil {
		return err
	}
	if t.org != "" && len(orgs) == 0 {
		return nil // of others: the worker tells them
	}
	if len(orgs) == 0 || n.Told >= n.N {
		return t.remove(ctx, n)
	}
	left := slices.DeleteFunc(orgs, func(org string) bool { return org <= n.Cursor })
	if len(left) == 0 { // those that were left have ended, or the user has left them
		return ignoreRace(t.write(ctx, n.claim("", n.N)))
	}
	for len(left) > 0 {
		some := left[:min(orgsAtOnce, len(left))]
		left = left[len(some):]
		next := ""
		if len(left) > 0 {
			next = some[len(some)-1]
		}
		if err = t.tellOrganisations(ctx, n, u, some, next); err != nil {
			return ignoreRace(err)
		}
		n.Cursor = next
	}
	return nil
}

// ignoreRace returns nil if another teller was faster, or if there were more attempts meanwhile.
func ignoreRace(err error) error {
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return nil
	}
	return err
}

// organisationsOf returns the organizations to be told, in a fixed order.
func (t *teller) organisationsOf(ctx context.Context, n note, u identity.User) ([]string, error) {
	if n.Action == unlisted {
		if t.org != "" && t.org != n.Org {
			return nil, nil
		}
		return t.ifNotEnded(ctx, n.Org)
	}
	if u.ID == "" {
		return nil, nil
	}
	all, err := identity.ListOrganisations(table.Within(ctx, identity.UserPrefix+u.ID), t.Table, u.ID)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, o := range all {
		if n.Org == "" || n.Org == o.ID {
			out = append(out, o.ID)
		}
	}
	slices.Sort(out)
	return t.joinedBefore(ctx, n, u.ID, out)
}

// joinedBefore returns the organizations that the user belonged to at the last attempt: an organization learns nothing
// of the time before.
func (t *teller) joinedBefore(ctx context.Context, n note, user string, orgs []string) ([]string, error) {
	var keys []table.Key
	for _, org := range orgs {
		keys = append(keys, identity.MembershipKey(user, org))
	}
	found, err := t.readAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	var out []string
	for i, org := range orgs {
		it, there := found[keys[i]]
		if !there {
			continue
		}
		m, err := table.Decode[identity.Membership](it)
		if err != nil {
			return nil, err
		}
		if !m.Joined.After(n.Last) {
			out = append(out, org)
		}
	}
	return out, nil
}

// ifNotEnded returns the organization, or none if it has ended.
func (t *teller) ifNotEnded(ctx context.Context, org string) ([]string, error) {
	k := identity.OrganisationKey(org)
	o, err := table.Read[identity.OrganisationRecord](table.Within(ctx, k.PK), t.Table, k)
	if fault.Is(err, fault.NotFound) || err == nil && o.Ended {
		return nil, nil
	}
	return []string{org}, fault.Wrap("read organization "+org, err)
}

// claim returns the write that says which organizations were told, up to the cursor, and that told attempts were. It
// fails if another teller was faster. Attempts that come meanwhile do not matter: they are told later.
func (n *note) claim(cursor string, told int64) table.Write {
	conds := []table.Cond{table.Exists()}
	for field, was := range map[string]any{"told": n.Told, "cursor": n.Cursor} {
		c := table.Equal(field, was)
		if was == int64(0) || was == "" {
			c = table.Any(table.Lacks(field), c)
		}
		conds = append(conds, c)
	}
	changes := []table.Change{table.Set("cursor", cursor)}
	if cursor == "" {
		changes = append(changes, table.Set("told", told))
	}
	return table.Update(n.key, changes, conds...)
}

// tellOrganisations writes the rows in some organizations, in one transaction with the claim. In an organization above
// rowsPerOrg it counts the attempts instead.
func (t *teller) tellOrganisations(ctx context.Context, n note, u identity.User, orgs []string, next string) error {
	writes := []table.Write{n.claim(next, n.N)}
	var listed []string
	for _, org := range orgs {
		if n.Status < 400 || n.Action == unlisted || t.takeRow(ctx, org) {
			listed = append(listed, org)
			continue
		}
		more := Attempt{Action: unlisted, Status: n.Status, Who: org, Org: org, IP: n.IP}
		writes = append(writes, more.countWrite(t.Clock.Now(), n.N-n.Told))
	}
	if len(listed) == 0 {
		return t.write(ctx, writes...)
	}
	err := t.log.AppendEach(table.Within(ctx, prefix), listed, n.row(u), writes...)
	if err == nil {
		t.rows += len(listed)
	}
	return err
}

// takeRow reports whether the organization gets another row in this hour.
func (t *teller) takeRow(ctx context.Context, org string) bool {
	ok, err := ratelimit.TakeUse(ctx, t.Table, t.Clock.Now(), rowsPerOrg, org)
	if err != nil {
		t.Log.WarnContext(ctx, "rows of attempts are not counted", "error", err.Error())
	}
	return ok
}

func (t *teller) write(ctx context.Context, ws ...table.Write) error {
	return t.Table.Transact(table.Within(table.WithoutAttachment(ctx), prefix), ws...)
}

// remove deletes a count without an organization that is to be told, or one that is final and told. An attempt that
// comes meanwhile begins a new count.
func (t *teller) remove(ctx context.Context, n note) error {
	return ignoreRace(t.write(ctx, table.Delete(n.key, table.Equal("n", n.N))))
}
