package receiver

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/membership"
)

// AudienceAccess is what an Audience reads.
var AudienceAccess = membership.CallerAccess.With(table.Access{Reads: []table.Partition{inventory.IndexPartition,
	inventory.ChunkPartition}})

// Audience says who may read an event at the moment: members who hold the policy of its type (event.PolicyOf) on the
// organization, on a team that the event belongs to, or on its resource.
type Audience struct {
	table     table.Store
	inventory *inventory.Store
	clock     clock.Clock
}

// NewAudience returns the Audience on p.
func NewAudience(p *platform.Platform) *Audience {
	return &Audience{p.Table, inventory.New(p), p.Clock}
}

// NoteUnclaimed asks for the review of the receivers of org that name no maker, when makers are those of receivers
// that an event has met and one of them is nobody. The review attributes such receivers to a member, so that there is
// none afterwards. No round trip without one, else one.
func (a *Audience) NoteUnclaimed(ctx context.Context, org string, makers []string) error {
	if !slices.Contains(makers, "") {
		return nil
	}
	return membership.RequestReview(ctx, a.table,
		membership.Review{Org: org, User: membership.Nobody, At: a.clock.Now()})
}

// WhoMayRead returns which of users may read the event now. The empty user is that of a receiver without a maker and
// may read everything. One round trip for a hundred users, none for those that ctx remembers
// (membership.RememberCallers), and one more when grants are on single resources.
func (a *Audience) WhoMayRead(ctx context.Context, org string, e *event.Event, users ...string) (map[string]bool,
	error) {
	callers, err := membership.ReadCallers(ctx, a.table, org, users...)
	if err != nil {
		return nil, fmt.Errorf("read who may see %s: %w", e.ID, err)
	}
	scopes := make([]grant.Scopes, len(users))
	for i, u := range users {
		scopes[i] = callers.Scopes(u, event.PolicyOf(e.Key))
	}
	sees, err := a.see(ctx, org, scopes, e)
	if err != nil {
		return nil, err
	}
	out := make(map[string]bool, len(users))
	for i, u := range users {
		out[u] = sees[i]
	}
	return out, nil
}

// Readable returns those of events that the maker of a receiver may read now, and fault.Invalid when there is none. A
// message that a person sends, as a test does, is no event of the organization and is always readable.
func (a *Audience) Readable(ctx context.Context, org string, m *Made, events []event.Event) ([]event.Event, error) {
	var out []event.Event
	for i := range events {
		if event.PolicyOf(events[i].Key) != "" {
			may, err := a.WhoMayRead(ctx, org, &events[i], m.Maker)
			if err != nil {
				return nil, err
			}
			if !may[m.Maker] {
				continue
			}
		}
		out = append(out, events[i])
	}
	if len(out) == 0 {
		return nil, fault.New(fault.Invalid, "its maker, %s, may not read this event now", m.makerName())
	}
	return out, nil
}

// Made says by whose right a receiver gets events, and whether it is paused because that right has ended.
type Made struct {
	// the user; empty in rows of before receivers named their makers, which get everything
	Maker      string `json:"maker,omitempty"`
	MakerEmail string `json:"makerEmail,omitempty"` // for people
	// since when it is known that the maker may read no event that it asks for
	PausedAt  time.Time `json:"pausedAt,omitzero"`
	PausedWhy string    `json:"pausedWhy,omitempty"`
}

func (m *Made) makerName() string {
	if m.MakerEmail != "" {
		return m.MakerEmail
	}
	return m.Maker
}

// TakeOver makes c the maker: from now on the receiver gets the events of keys, [] being all, that c may read. It is
// paused when c may read none.
func (m *Made) TakeOver(c identity.Caller, keys []string, now time.Time) {
	*m = Made{Maker: c.User, MakerEmail: c.Email}
	m.SetPause(m.PauseReason(membership.Callers{c.User: c}, keys), now)
}

// SetPause pauses the receiver for a reason, or ends its pause when there is none. It reports whether that changes
// anything.
func (m *Made) SetPause(why string, now time.Time) bool {
	if m.PausedWhy == why && m.PausedAt.IsZero() == (why == "") {
		return false
	}
	m.PausedAt, m.PausedWhy = time.Time{}, why
	if why != "" {
		m.PausedAt = now
	}
	return true
}

// PauseReason returns why a receiver of the events of keys, [] being all, gets none now: its maker has left, or may
// read none of them anywhere. "" when it may get some.
func (m *Made) PauseReason(callers membership.Callers, keys []string) string {
	if m.Maker == "" {
		return ""
	}
	if _, member := callers[m.Maker]; !member {
		return "its maker, " + m.makerName() + ", is no active member of the organization any more"
	}
	needed := policiesOf(keys)
	if slices.ContainsFunc(needed, func(p string) bool { return !callers.Scopes(m.Maker, p).None() }) {
		return ""
	}
	return "its maker, " + m.makerName() + ", does not hold " + strings.Join(needed, ", ")
}

// policiesOf returns the policies that let somebody read events of keys, [] being all.
func policiesOf(keys []string) []string {
	var out []string
	for _, t := range event.Types {
		if p := event.PolicyOf(t.Key); (len(keys) == 0 || slices.Contains(keys, t.Key)) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// see tells for each of scopes whether the event lies in it: in all, in a team that it belongs to, or on one of the
// resources.
func (a *Audience) see(ctx context.Context, org string, scopes []grant.Scopes, e *event.Event) ([]bool, error) {
	teams, uids := idsOf(e, event.ScopeTeam), idsOf(e, event.ScopeResource)
	out := make([]bool, len(scopes))
	var open []int
	var own []grant.Scopes
	for i, s := range scopes {
		out[i] = s.All || slices.ContainsFunc(teams, func(id string) bool { return slices.Contains(s.Teams, id) })
		if !out[i] && len(s.Resources) > 0 {
			open, own = append(open, i), append(own, grant.Scopes{Resources: s.Resources})
		}
	}
	if len(open) == 0 || len(uids) == 0 {
		return out, nil
	}
	sets, err := a.inventory.ResourceSets(ctx, org, own...)
	if err != nil {
		return nil, err
	}
	for n, i := range open {
		out[i] = slices.ContainsFunc(uids, sets[n].HasUID)
	}
	return out, nil
}

// idsOf returns the ids of the scopes of a type that the event belongs to.
func idsOf(e *event.Event, scopeType string) []string {
	var out []string
	for _, s := range e.Scopes() {
		if s.Type == scopeType {
			out = append(out, s.ID)
		}
	}
	return out
}
