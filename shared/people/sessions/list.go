package sessions

import (
	"context"
	"fmt"
	"slices"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// maxListed is the maximum number of sessions that a list is made of. A user has more only after as many log-ins within
// 30 days.
const maxListed = 2_000

// listEntry is a session in its user's list. The session itself says whether it has ended.
type listEntry struct {
	Session string `json:"session"`
}

// listSession returns the write that puts a session on its user's list.
func listSession(sess identity.Session) (table.Write, error) {
	it, err := table.NewItem(identity.SessionListKey(sess.User, sess.ID), listEntry{sess.ID})
	it.Expires = time.Unix(sess.Absolute, 0)
	return table.Put(it), err
}

// ListOwn returns the live sessions of the caller, the last used first. A caller of single sign-on gets the sessions
// that began by the single sign-on of the same organization. A session from before the last update of the service is
// listed from its next refresh on. Two round trips for a hundred sessions.
func (s Sessions) ListOwn(ctx context.Context, c identity.Caller) ([]identity.Session, error) {
	ctx = withSessionPartitions(ctx)
	entries, err := s.readList(ctx, c.User)
	if err != nil {
		return nil, err
	}
	profile := identity.UserKey(c.User)
	keys := []table.Key{profile}
	for _, e := range entries {
		keys = append(keys, identity.SessionKey(e.Session))
	}
	found, err := s.Table.BatchGet(ctx, keys...)
	if err != nil {
		return nil, fmt.Errorf("read %d sessions of %s: %w", len(entries), c.User, err)
	}
	u, err := table.Decode[identity.User](found[profile])
	if err != nil {
		return nil, err
	}
	delete(found, profile)
	out := make([]identity.Session, 0, len(found))
	for _, it := range found {
		sess, err := table.Decode[identity.Session](it)
		if err != nil {
			return nil, err
		}
		if s.isLive(sess, u) && isVisible(c, sess) {
			out = append(out, sess)
		}
	}
	slices.SortFunc(out, compareUse)
	return out, nil
}

// readList reads the list of a user's sessions, up to maxListed.
func (s Sessions) readList(ctx context.Context, user string) ([]listEntry, error) {
	var out []listEntry
	k := identity.SessionListKey(user, "")
	for q := (table.Query{PK: k.PK, Prefix: k.SK, Limit: maxListed}); ; {
		some, next, err := table.ReadPage[listEntry](ctx, s.Table, q)
		if err != nil {
			return nil, fmt.Errorf("list sessions of %s: %w", user, err)
		}
		out = append(out, some...)
		if q.Cursor = next; next == "" || len(out) >= maxListed {
			return out, nil
		}
	}
}

// isLive reports whether a session of u can be used. One that waits for a second factor cannot.
func (s Sessions) isLive(sess identity.Session, u identity.User) bool {
	now := s.Clock.Now().Unix()
	return sess.State == identity.SessionLive && !sess.Pending && sess.User == u.ID && sess.IsOf(u) &&
		sess.Idle > now && sess.Absolute > now && !sess.Created.Before(s.Settings.Epoch)
}

// isVisible reports whether the caller may see and end a session. A caller of single sign-on may do so only with
// sessions of the same single sign-on, so that its identity provider cannot control the others.
func isVisible(c identity.Caller, sess identity.Session) bool { return !c.SSO || sess.SSO == c.Org }

// compareUse orders sessions by their last use, the latest first.
func compareUse(a, b identity.Session) int {
	switch {
	case a.Rotated != b.Rotated:
		return int(b.Rotated - a.Rotated)
	case !a.Created.Equal(b.Created):
		return b.Created.Compare(a.Created)
	case a.ID < b.ID:
		return -1
	}
	return 1
}

// EndOwn ends a live session of the caller, and returns it as it was. For a session that the caller does not have, or
// may not see, and for one that has ended, it returns fault.NotFound.
func (s Sessions) EndOwn(ctx context.Context, c identity.Caller, session string) (identity.Session, error) {
	unknown := fault.New(fault.NotFound, "session %.64q does not exist, or has ended", session)
	ctx = withSessionPartitions(ctx)
	profile, key := identity.UserKey(c.User), identity.SessionKey(session)
	found, err := s.Table.BatchGet(ctx, profile, key)
	if err != nil {
		return identity.Session{}, fmt.Errorf("read a session of %s: %w", c.User, err)
	}
	if found[profile].Data == nil || found[key].Data == nil {
		return identity.Session{}, unknown
	}
	u, err := table.Decode[identity.User](found[profile])
	if err != nil {
		return identity.Session{}, err
	}
	sess, err := table.Decode[identity.Session](found[key])
	if err != nil {
		return identity.Session{}, err
	}
	if !s.isLive(sess, u) || !isVisible(c, sess) {
		return identity.Session{}, unknown
	}
	return sess, s.End(ctx, c.User, session)
}
