package local

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow/asl"
	"lamplighter.dev/shared/foundation/clock"
)

// life is a process with loops, which ends abruptly: it dies, or is killed.
type life struct {
	*loopDeaths
	trials int
}

func newLife(t *testing.T, dir string, died bool) *life {
	t.Helper()
	d, err := readLoopDeaths(dir, died, clock.NewManual(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)))
	if err != nil {
		t.Fatal(err)
	}
	l := &life{loopDeaths: d}
	d.trial = func(context.Context) (func(), error) { l.trials++; return func() {}, nil }
	return l
}

// run runs one turn of the loop. The turn ends unless it ends the process.
func (l *life) run(t *testing.T, name string, ends bool) {
	t.Helper()
	end, err := l.begin(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	if ends {
		if err := end(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestLoopDeaths_PauseTheLoopThatEndedTheProcessThreeTimes(t *testing.T) {
	dir := t.TempDir()
	newLife(t, dir, false).run(t, "killer", false)
	if _, err := os.Stat(filepath.Join(dir, loopsFile)); err == nil {
		t.Error("a file is written though nothing has died")
	}
	for n := range asl.MaxDeaths {
		l := newLife(t, dir, true)
		l.run(t, "other", true)
		if l.isPaused("killer") || l.isPaused("other") {
			t.Fatalf("paused after %d deaths", n)
		}
		l.run(t, "killer", false)
		if want := map[bool]int{true: 1}[n == asl.MaxDeaths-1]; l.trials != want {
			t.Errorf("%d trials after %d deaths; want %d", l.trials, n, want)
		}
	}
	if l := newLife(t, dir, true); !l.isPaused("killer") || l.isPaused("other") {
		t.Errorf("%+v; want the killer paused alone", l.loops)
	}
	if l := newLife(t, dir, false); !l.isPaused("killer") {
		t.Error("the killer is not paused any more after a process that was stopped")
	}
}

func TestLoopDeaths_CountForNoLoopWhenTheProcessWasKilledOrLived(t *testing.T) {
	for name, between := range map[string]func(t *testing.T, dir string){
		"killed from outside": func(t *testing.T, dir string) {
			t.Helper()
			newLife(t, dir, false).run(t, "a", false)
		},
		"lived for more than an hour": func(t *testing.T, dir string) {
			t.Helper()
			l := newLife(t, dir, true)
			l.clock.(*clock.Manual).Advance(acquittal + time.Second)
			l.run(t, "a", true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			newLife(t, dir, true).run(t, "a", false)
			newLife(t, dir, true).run(t, "a", false)
			between(t, dir)
			newLife(t, dir, true).run(t, "a", false)
			if l := newLife(t, dir, true); l.isPaused("a") {
				t.Errorf("%+v; want no loop paused", l.loops["a"])
			}
		})
	}
}

func TestEvery_APanicIsAnErrorOfItsTurn(t *testing.T) {
	var log strings.Builder
	c := clock.NewManual(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	s := &Service{
		Platform: &platform.Platform{Log: slog.New(slog.NewTextHandler(&log, nil)), Clock: c},
		loops:    newLife(t, t.TempDir(), false).loopDeaths, turns: newTurns(),
	}
	err := s.turn(t.Context(), "judge costs", func(context.Context) error { panic("no such month") })
	if err == nil || !strings.Contains(err.Error(), "panic: no such month") {
		t.Errorf("the turn ended with %v", err)
	}
	s.loops.loops["judge costs"] = &loopRecord{Deaths: asl.MaxDeaths}
	s.every(t.Context(), time.Minute, "judge costs", func(context.Context) error {
		t.Error("a paused loop ran")
		return nil
	})
	if !strings.Contains(log.String(), "a loop is paused") {
		t.Errorf("the log says %s", log.String())
	}
}
