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

// AudienceAccess is the access that an Audience needs.
var AudienceAccess = membership.CallerAccess.With(table.Access{Reads: []table.Partition{
	inventory.IndexPartition,
	inventory.ChunkPartition,
}})

// Audience decides which users may read an event now: members who hold the policy of its type (event.PolicyOf) on the
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

// NoteUnclaimed requests the review of org's receivers without a maker if makers, the makers of an event's receivers,
// contain the empty user. The review attributes such receivers to a member. It takes one round trip, or none without
// an empty maker.
func (a *Audience) NoteUnclaimed(ctx context.Context, org string, makers []string) error {
	if !slices.Contains(makers, "") {
		return nil
	}
	return membership.RequestReview(ctx, a.table,
		membership.Review{Org: org, User: membership.NoMember, At: a.clock.Now()})
}

// WhoMayRead returns for each of users whether it may read the event now. The empty user stands for a receiver
// without a maker and may read everything. It takes one round trip per hundred users, none for users that ctx
// remembers (membership.RememberCallers), and one more when grants are on single resources.
func (a *Audience) WhoMayRead(ctx context.Context, org string, e *event.Event, users ...string) (map[string]bool,
	error,
) {
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

// Readable returns the events that the maker of a receiver may read now, or fault.Invalid when there are none. A
// message sent by a person, such as a test, is no event of the organization and is always readable.
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

// Made is the maker of a receiver, by whose rights it gets events, and its pause if these rights have ended.
type Made struct {
	// the user ID; empty in old rows without makers, which get all events
	Maker      string `json:"maker,omitempty"`
	MakerEmail string `json:"makerEmail,omitempty"` // for display
	// when the maker's right to read any of its events was found to be lost
	PausedAt  time.Time `json:"pausedAt,omitzero"`
	PausedWhy string    `json:"pausedWhy,omitempty"`
}

func (m *Made) makerName() string {
	if m.MakerEmail != "" {
		return m.MakerEmail
	}
	return m.Maker
}

// TakeOver makes c the maker: from now on the receiver gets those events of keys (all types if empty) that c may
// read. It is paused when c may read none.
func (m *Made) TakeOver(c identity.Caller, keys []string, now time.Time) {
	*m = Made{Maker: c.User, MakerEmail: c.Email}
	m.SetPause(m.PauseReason(membership.Callers{c.User: c}, keys), now)
}

// SetPause pauses the receiver with a reason, or ends the pause when the reason is empty. It reports whether it
// changed the receiver.
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

// PauseReason returns why a receiver of keys (all types if empty) gets no events now: its maker is no active member,
// or holds none of the needed policies anywhere. It returns "" when the receiver may get events.
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

// policiesOf returns the policies that allow reading events of keys (all types if empty).
func policiesOf(keys []string) []string {
	var out []string
	for _, t := range event.Types {
		if p := event.PolicyOf(t.Key); (len(keys) == 0 || slices.Contains(keys, t.Key)) && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// see returns for each of scopes whether the event is in it: in all, in a team of the event, or on one of the event's
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

// idsOf returns the IDs of the event's scopes of a type.
func idsOf(e *event.Event, scopeType string) []string {
	var out []string
	for _, s := range e.Scopes() {
		if s.Type == scopeType {
			out = append(out, s.ID)
		}
	}
	return out
}
