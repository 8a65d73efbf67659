package killpoint

import (
	"context"
	"math/rand/v2"
	"testing"

	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/seed"
)

// Flow does a piece of work from its beginning to its end in the processes of lives, and returns a text of the final
// state. Equal work must have equal texts, so a text contains no times and no random ids.
type Flow func(t *testing.T, lives *Lives) string

// Lives are the successive processes of one run of a flow. Each is killed at a point, except the last one.
type Lives struct {
	points []Point
	kills  int
	steps  int // of the last process
}

// Kills returns how many processes were killed so far.
func (l *Lives) Kills() int { return l.kills }

// Run does work in processes, one after the other, until one completes it without being killed. Work continues from
// the state of the earlier processes. An error of a process that is alive fails the test.
func (l *Lives) Run(ctx context.Context, tb testing.TB, work func(ctx context.Context, p *Process) error) {
	tb.Helper()
	for {
		if l.live(ctx, tb, work) {
			return
		}
	}
}

// live does work in one process; it reports whether the process has survived.
func (l *Lives) live(ctx context.Context, tb testing.TB, work func(ctx context.Context, p *Process) error) bool {
	tb.Helper()
	var at Point
	if l.kills < len(l.points) {
		at = l.points[l.kills]
	}
	ctx, p := Start(ctx, at)
	defer p.kill()
	err := work(ctx, p)
	if p.Killed() {
		l.kills++
		return false
	}
	if err != nil {
		tb.Fatalf("after %d kills: %v", l.kills, err)
	}
	l.steps = p.Steps()
	return true
}

// maxDraws bounds how often a point is drawn again because the flow ended before it: flows with several goroutines
// have a few steps more or less in each run.
const maxDraws = 5

// racedKills is how many runs with kills the race detector watches at most: each runs the same code, more slowly.
const racedKills = 5

// LosesNothing runs a flow once without kills, and then as many times as kills says with a kill at a random step; in
// every second of those runs the process that resumes is killed, too. Each run must end in the state of the first one.
// The seed of the points is printed and can be given back (package seed).
func LosesNothing(t *testing.T, kills int, flow Flow) {
	t.Helper()
	r, whole := seed.Random(t), &Lives{}
	want := flow(t, whole)
	if whole.steps == 0 {
		t.Fatal("the flow has no steps: it does not work through its process")
	}
	if race.Enabled {
		kills = min(kills, racedKills)
	}
	killed := 0
	for n := range kills {
		lives := runKilled(t, flow, want, func() []Point { return points(r, whole.steps, 1+n%2) })
		killed += lives.kills
	}
	t.Logf("%d kills in %d runs of %d steps", killed, kills, whole.steps)
}

// runKilled runs a flow with kills at random points, and compares its final state.
func runKilled(t *testing.T, flow Flow, want string, draw func() []Point) *Lives {
	t.Helper()
	for range maxDraws {
		lives := &Lives{points: draw()}
		got := flow(t, lives)
		if got != want {
			t.Fatalf("killed %v: the final state is\n%s\nwithout a kill it is\n%s", lives.points, got, want)
		}
		if lives.kills > 0 {
			return lives
		}
	}
	t.Fatalf("%d runs have ended before the steps at which they were to be killed", maxDraws)
	return nil
}

// points draws points among the first steps.
func points(r *rand.Rand, steps, n int) []Point {
	out := make([]Point, n)
	for i := range out {
		out[i] = Point{Step: 1 + r.IntN(steps), Landed: r.IntN(2) == 0}
	}
	return out
}
