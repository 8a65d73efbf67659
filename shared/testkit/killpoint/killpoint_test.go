package killpoint

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

func key(n int) table.Key { return table.Key{PK: "ORG#org_1#THING", SK: strconv.Itoa(n)} }

func put(tb testing.TB, n int) table.Write {
	tb.Helper()
	return table.Put(apitest.Value(table.NewItem(key(n), map[string]int{"n": n}))(tb))
}

// stored returns which of the first items exist, as their numbers.
func stored(tb testing.TB, s table.Store, n int) string {
	tb.Helper()
	var out strings.Builder
	for i := range n {
		if got := apitest.Value(s.BatchGet(tb.Context(), key(i)))(tb); len(got) > 0 {
			fmt.Fprint(&out, i)
		}
	}
	return out.String()
}

func TestProcess_IsKilledAtItsPoint(t *testing.T) {
	for _, tt := range []struct {
		name string
		at   Point
		want string
	}{
		{"no point kills nothing", Point{}, "012345"},
		{"a write that did not land", Point{Step: 1}, ""},
		{"a write that landed", Point{Step: 1, Landed: true}, "0"},
		{"a transaction that landed is whole", Point{Step: 2, Landed: true}, "012"},
		{"half of a batch lands", Point{Step: 3, Landed: true}, "0123"},
		{"a batch that did not land", Point{Step: 3}, "012"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tabletest.NewAt(t, clock.System{})
			ctx, p := Start(t.Context(), tt.at)
			mine := p.Store(s)
			_, first := mine.Write(ctx, put(t, 0))
			second := mine.Transact(ctx, put(t, 1), put(t, 2))
			third := mine.BatchWrite(ctx, put(t, 3), put(t, 4))
			last := p.Do(func() error { return s.Transact(ctx, put(t, 5)) })
			if got := stored(t, s, 6); got != tt.want {
				t.Errorf("%s is stored; want %s", got, tt.want)
			}
			killed := tt.at.Step > 0
			if err := errors.Join(first, second, third, last); errors.Is(err, ErrKilled) != killed ||
				p.Killed() != killed || (ctx.Err() != nil) != killed {
				t.Errorf("%v, killed %v, the context: %v", err, p.Killed(), ctx.Err())
			}
			if _, err := mine.BatchGet(t.Context(), key(0)); errors.Is(err, ErrKilled) != killed {
				t.Errorf("a read of the process: %v", err)
			}
		})
	}
}

func TestLives_ResumeUntilOneIsNotKilled(t *testing.T) {
	lives := &Lives{points: []Point{{Step: 2}, {Step: 1, Landed: true}}}
	var did []string
	lives.Run(t.Context(), t, func(_ context.Context, p *Process) error {
		for _, step := range []string{"a", "b", "c"} {
			if err := p.Do(func() error { did = append(did, step); return nil }); err != nil {
				return err
			}
		}
		return nil
	})
	if got := strings.Join(did, ""); got != "aaabc" || lives.Kills() != 2 {
		t.Errorf("%s by %d processes that were killed", got, lives.Kills())
	}
}

func TestLosesNothing_KillsInEveryRun(t *testing.T) {
	kills, runs := 0, 0
	LosesNothing(t, racedKills, func(t *testing.T, lives *Lives) string {
		t.Helper()
		s := tabletest.NewAt(t, clock.System{})
		lives.Run(t.Context(), t, func(ctx context.Context, p *Process) error {
			for n := range 8 {
				if _, err := p.Store(s).Write(ctx, put(t, n)); err != nil {
					return err
				}
			}
			return nil
		})
		runs++
		kills += lives.Kills()
		return stored(t, s, 8)
	})
	if runs != 1+racedKills || kills < racedKills {
		t.Errorf("%d kills in %d runs", kills, runs)
	}
}
