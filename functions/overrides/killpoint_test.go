package overrides

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// The button of a wake link is pressed until it answers: it starts once. (The end of a start is that of an override.)
func TestKilledAtAnyStep_WakeLinksLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		a := newFixture(t)
		_, page := a.newLink(map[string]any{"maxHours": 1})
		lives.Run(a.In(ours), t, func(_ context.Context, p *killpoint.Process) error {
			mine := &fixture{Fixture: apitest.On(t, p.Platform(a.Platform))}
			mine.Mount(Operations)
			pressed := mine.visitPage("POST " + page)
			if p.Killed() {
				return killpoint.ErrKilled
			}
			pressed.Want(200, "Runs until")
			return nil
		})
		return a.wakeOutcome()
	})
}

// wakeOutcome returns the stored result of a wake link.
func (a *fixture) wakeOutcome() string {
	a.Helper()
	var lines []string
	for _, b := range a.listBulks() {
		lines = append(lines, fmt.Sprintf("%s %d for %s", b.Type, b.Total, b.Plan.ChangedBy))
	}
	slices.Sort(lines)
	overrides := apitest.Data[rest.List[Override]](a.call("GET /overrides"))
	links := apitest.Data[rest.List[WakeLink]](a.call("GET /wake-links"))
	pending := apitest.Value(killpoint.Pending(a.In(ours), a.Table))(a)
	return fmt.Sprintf("%v\n%d overrides, %d starts, %d pending", lines, overrides.Total, links.Items[0].Starts,
		len(pending))
}
