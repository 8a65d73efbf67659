package asl

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
)

var errCrash = errors.New("crash")

// runCrashing runs a case, and interrupts it at its first write, after its second, and so on. Each time, the execution
// is resumed from the saved frames. It returns the end of the execution, and how often it was resumed.
func runCrashing(t *testing.T, m *Machine, w *fixture, input string) (out []byte, resumed int, err error) {
	t.Helper()
	x := newExecution(input)
	for crashAt := 0; ; crashAt++ {
		saves := 0
		w.mu.Lock()
		w.broken = func(string) error {
			if saves++; saves > crashAt {
				return errCrash
			}
			return nil
		}
		w.mu.Unlock()
		x.Frames = w.kept()
		out, err = m.Run(t.Context(), w.env(w.clock), x)
		if !errors.Is(err, errCrash) {
			return out, resumed, err
		}
		if resumed++; resumed > 200 {
			t.Fatal("the execution makes no progress")
		}
	}
}

func TestAnExecutionThatIsCutOffAtAnyWriteEndsTheSameWay(t *testing.T) {
	total := 0
	for name, c := range readCases(t) {
		if name == "jsonata" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newFixture()
				w.clock = startTicking(t)
				w.tasks = caseTasks(w, w.clock)
				out, resumed, err := runCrashing(t, mustParse(t, string(c.Definition)), w, string(c.Input))
				checkCase(t, c, out, err)
				total += resumed
			})
		})
	}
	if total < 5 {
		t.Fatalf("only %d executions were cut off: the test tests nothing", total)
	}
}

func TestAResumedMapCallsFinishedItemsNoMore(t *testing.T) { synctest.Test(t, resumeMap) }

func resumeMap(t *testing.T) {
	const m = `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":3,"End":true,` +
		`"ItemProcessor":{"StartAt":"A","States":{
		"A":{` + callsFn + `,"ResultPath":"$.a","Next":"I"},
		"I":{"Type":"Map","ItemsPath":"$.list","ResultPath":"$.inner","Next":"Z",` +
		`"ItemProcessor":{"StartAt":"B","States":{
			"B":{` + callsFn + `,"End":true}}}},
		"Z":{"Type":"Pass","OutputPath":"$.inner","End":true}}}}}}`
	var mu sync.Mutex
	calls := 0
	w := newFixture()
	w.clock = startTicking(t)
	w.tasks = map[string]testTask{"fn": func(_ context.Context, in map[string]any) (any, error) {
		mu.Lock()
		defer mu.Unlock()
		calls++
		return in["value"], nil
	}}
	input := `[{"list":[1,2]},{"list":[3]},{"list":[4,5,6]},{"list":[]}]`
	out, resumed, err := runCrashing(t, mustParse(t, m), w, input)
	if err != nil || string(out) != `[[1,2],[3],[4,5,6],[]]` {
		t.Fatalf("%s %v", out, err)
	}
	const tasks = 10
	if most := tasks + resumed*9; resumed < 2 || calls < tasks || calls > most {
		t.Fatalf("%d calls of %d tasks over %d resumptions, at most %d", calls, tasks, resumed, most)
	}
}
