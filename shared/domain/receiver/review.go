package receiver

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/membership"
)

// Judge applies the review of a user's rights to receivers. It pauses receivers whose makers lost the right to their
// events, and ends the pauses of receivers whose makers have it again.
type Judge struct {
	Review membership.Review
	Table  table.Store
	Now    time.Time
}

// Subject is a receiver under review.
type Subject struct {
	Noun, ID, Name string
	Made           Made
	// the email address of its maker, if its row has one: an older row has no other maker
	CreatedBy string
	Keys      []string // of its events; [] means all
	Key       table.Key
	Unchanged table.Cond // condition that its row is as it was read
	// returns the writes of the lists that contain its maker; nil when there are none
	Lists func(Made) ([]table.Write, error)
}

// Concerns reports whether a receiver depends on the rights under review.
func (j *Judge) Concerns(m *Made, createdBy string) bool {
	if m.Maker == "" {
		return j.Review.User == membership.NoMember || createdBy != "" && createdBy == j.Review.Email
	}
	return j.Review.User == membership.Everybody || j.Review.User == m.Maker
}

// Pause is a change of a receiver's pause.
type Pause struct {
	Subject
	New   bool // it was not paused before
	Write table.Write
}

// Pauses returns the changes for the receivers that the review concerns. It takes one round trip per hundred makers.
func (j *Judge) Pauses(ctx context.Context, all []Subject) ([]Pause, error) {
	all = slices.DeleteFunc(all, func(s Subject) bool { return !j.Concerns(&s.Made, s.CreatedBy) })
	makers := make([]string, len(all))
	for i := range all {
		if all[i].Made.Maker == "" { // the reviewed user is its maker
			all[i].Made.Maker, all[i].Made.MakerEmail = j.Review.User, j.Review.Email
		}
		makers[i] = all[i].Made.Maker
	}
	callers, err := membership.ReadCallers(ctx, j.Table, j.Review.Org, makers...)
	if err != nil {
		return nil, err
	}
	var out []Pause
	for _, s := range all {
		was := s.Made.PausedAt
		if s.Made.SetPause(s.Made.PauseReason(callers, s.Keys), j.Now) {
			out = append(out,
				Pause{s, was.IsZero(), table.Update(s.Key, s.Made.changes(), table.Exists(), s.Unchanged)})
		}
	}
	return out, nil
}

// Attribute returns the writes that make a user the maker of a receiver without one. The receiver is paused when the
// user may read none of its events.
func (s *Subject) Attribute(user, email string, callers membership.Callers, now time.Time) ([]table.Write, error) {
	made := Made{Maker: user, MakerEmail: email}
	made.SetPause(made.PauseReason(callers, s.Keys), now)
	ws := []table.Write{table.Update(s.Key, made.changes(), table.Exists(), s.Unchanged)}
	if s.Lists == nil {
		return ws, nil
	}
	lists, err := s.Lists(made)
	return append(ws, lists...), err
}

// changes returns the changes that set the maker and the pause of a row to those of m.
func (m *Made) changes() []table.Change {
	out := []table.Change{table.Set("maker", m.Maker), table.Set("makerEmail", m.MakerEmail)}
	if m.PausedAt.IsZero() {
		return append(out, table.Remove("pausedAt"), table.Remove("pausedWhy"))
	}
	return append(out, table.Set("pausedAt", m.PausedAt), table.Set("pausedWhy", m.PausedWhy))
}

// Subjects returns the receivers of the kind for a review. It takes one round trip.
func (s *Store[T, P]) Subjects(ctx context.Context, org string) ([]Subject, error) {
	all, err := s.List(ctx, org)
	out := make([]Subject, len(all))
	for i := range all {
		b := P(&all[i]).Base()
		out[i] = Subject{
			Noun: s.kind.Noun, ID: b.ID, Name: b.Name, Made: b.Made, CreatedBy: b.CreatedBy, Keys: b.EventTypes,
			Key: s.kind.Key(org, b.ID), Unchanged: table.Equal("generation", b.Generation),
		}
	}
	return out, err
}
