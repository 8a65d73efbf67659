package sweeper

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/npmpeer"
)

const machine = `{"StartAt":"Do","States":{"Do":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke",` +
	`"Parameters":{"FunctionName":"${DoFunctionArn}","Payload.$":"$"},"End":true}}}`

// fixture is a platform whose one machine calls do, and whose executor ends records by abandon.
type fixture struct {
	*apitest.Fixture
	calls   atomic.Int32
	log     bytes.Buffer
	abandon func(workflow.Call) error
	ended   []workflow.Call
	handler workflow.Handler
}

func newFixture(t *testing.T, do func() error) *fixture {
	t.Helper()
	s := &fixture{Fixture: apitest.New(t), abandon: func(workflow.Call) error { return nil }}
	s.RunMachines(fstest.MapFS{"action.asl.json": {Data: []byte(machine)}}, map[string]workflow.Handler{
		"do": func(context.Context, json.RawMessage) (any, error) {
			s.calls.Add(1)
			return nil, do()
		},
	})
	s.Workers = lambdacall.Local{"executor": func(_ context.Context, in json.RawMessage) (any, error) {
		c, err := workflow.ReadCall("executor", in)
		s.ended = append(s.ended, c)
		return struct{}{}, errors.Join(err, s.abandon(c))
	}}
	s.Platform.Log = slog.New(slog.NewJSONHandler(&s.log, nil))
	s.handler = Handler(s.Platform)
	return s
}

// addWork lists work, as the transaction that begins it does.
func (s *fixture) addWork(id string) {
	s.Helper()
	w := apitest.Value(workqueue.AddWork(workqueue.Work{ID: id, Org: "org_1", Machine: "action", At: s.Clock.Now()},
		map[string]string{"org": "org_1"}))(s)
	s.Write(w)
}

// beginWork lists the work act_1 and starts it.
func (s *fixture) beginWork() {
	s.Helper()
	s.addWork("act_1")
	s.Must(s.Workflow.Start(s.Context(), "action", "act_1", json.RawMessage(`{"org":"org_1"}`)))
}

func (s *fixture) sweep() Swept {
	s.Helper()
	return apitest.Value(s.handler(s.Context(), nil))(s).(Swept) //nolint:forcetypeassert // its answer
}

// waitForEnd waits until the execution of the name has ended.
func (s *fixture) waitForEnd(name string) workflow.Status {
	s.Helper()
	w := s.Workflow.(*workflow.Embedded) //nolint:forcetypeassert // the fixture made it
	return apitest.Value(w.Wait(s.Context(), "action", name))(s).Status
}

// exhaustTries sweeps after each pause until the work act_1 has been started anew n times.
func (s *fixture) exhaustTries(n int) {
	s.Helper()
	w := workqueue.Work{ID: "act_1"}
	for ; w.Try < n; w.Try++ {
		s.waitForEnd(w.ExecutionName())
		s.Clock.Advance(longestPause)
		if got := s.sweep(); got.Retried != 1 {
			s.Fatalf("after %s: %+v", w.ExecutionName(), got)
		}
	}
	s.waitForEnd(w.ExecutionName())
	s.Clock.Advance(longestPause)
}

func (s *fixture) parkedWork() []workqueue.Parked {
	s.Helper()
	parked, _, err := workqueue.ListParked(s.Context(), s.Table, "")
	s.Must(err)
	return parked
}

func TestSweep_StartsWorkWhoseMachineWasNeverStarted(t *testing.T) {
	s := newFixture(t, func() error { return nil })
	s.addWork("act_1")
	if got := s.sweep(); got.Looked != 0 || got.Pending != 1 {
		t.Errorf("swept work that has just begun: %+v", got)
	}
	s.Clock.Advance(time.Minute)
	if got := s.sweep(); got.Looked != 1 || got.Oldest != 60 {
		t.Errorf("swept %+v", got)
	}
	if got := s.waitForEnd("act_1"); got != workflow.Succeeded || s.calls.Load() != 1 {
		t.Errorf("%s after %d calls", got, s.calls.Load())
	}
}

// An alarm goes by how long work is pending: a plan for an event in some weeks is not, before its event is over.
func TestSweep_CountsWhatWaitsByItselfFromItsTimeOn(t *testing.T) {
	s := newFixture(t, func() error { return nil })
	s.Write(apitest.Value(workqueue.AddWork(workqueue.Work{
		ID: "act_1", Org: "org_1", Machine: "action", At: s.Clock.Now(), Until: s.Clock.Now().AddDate(0, 0, 21),
	}, map[string]string{"org": "org_1"}))(s))
	for _, want := range []int{0, 0, 24 * 60 * 60} {
		if got := s.sweep(); got.Oldest != want {
			t.Errorf("at %s it is pending for %d s; want %d", s.Clock.Now(), got.Oldest, want)
		}
		s.Clock.Advance(11 * 24 * time.Hour)
	}
}

// Running work is looked at again when its age has doubled, so that a long action does not cost a call each minute.
func TestSweep_LooksAtWhatRunsLessAndLessOften(t *testing.T) {
	hold := make(chan struct{})
	s := newFixture(t, func() error { <-hold; return nil })
	s.beginWork()
	looks := 0
	for range 120 {
		s.Clock.Advance(time.Minute)
		looks += s.sweep().Looked
	}
	if looks < 6 || looks > 10 {
		t.Errorf("looked %d times in two hours; today it is 120 times", looks)
	}
	close(hold)
	if s.waitForEnd("act_1"); s.calls.Load() != 1 {
		t.Errorf("called %d times", s.calls.Load())
	}
}

func TestSweep_TriesWorkWhoseMachineFailedUnderAnotherName(t *testing.T) {
	s := newFixture(t, func() error { return errors.New("broken") })
	s.beginWork()
	s.exhaustTries(2)
	s.Write(workqueue.RemoveWork("act_1"))
	if got := s.sweep(); got != (Swept{}) {
		t.Errorf("ended work was swept: %+v", got)
	}
}

func TestSweep_OnePieceThatCannotBeStartedDoesNotHoldUpTheOthers(t *testing.T) {
	s := newFixture(t, func() error { return nil })
	s.Write(apitest.Value(workqueue.AddWork(workqueue.Work{
		ID: "job_0", Org: "org_1", Machine: "unknown",
		At: apitest.Start,
	}, nil))(s))
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		s.addWork(id)
	}
	s.Clock.Advance(time.Minute)
	got, err := s.handler(t.Context(), nil)
	swept := got.(Swept) //nolint:forcetypeassert // its answer
	if swept.Looked != 5 || err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("swept %+v: %v", got, err)
	}
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		s.waitForEnd(id)
	}
}

func TestSweep_ParksPoisonAndEndsItsRecord(t *testing.T) {
	s := newFixture(t, func() error { return errors.New("division by zero") })
	s.beginWork()
	s.exhaustTries(maxTries)
	if got := s.sweep(); got.Parked != 1 {
		t.Fatalf("swept %+v", got)
	}
	if n := s.calls.Load(); n != maxTries+1 {
		t.Errorf("it ran %d times, want %d", n, maxTries+1)
	}
	if len(s.ended) != 1 || s.ended[0].Task != "abandon" || string(s.ended[0].Input) != `{"org":"org_1"}` ||
		!strings.Contains(s.ended[0].Error.String(), "division by zero") {
		t.Errorf("its record was ended by %+v", s.ended)
	}
	p := s.parkedWork()
	if len(p) != 1 || p[0].ID != "act_1" || !p[0].Ended || !strings.Contains(p[0].Why, "division by zero") {
		t.Errorf("parked %+v", p)
	}
	if log := s.log.String(); !strings.Contains(log, `"level":"ERROR","msg":"work parked"`) {
		t.Errorf("nobody is told: %s", log)
	}
	s.Clock.Advance(24 * time.Hour)
	if got := s.sweep(); got != (Swept{}) {
		t.Errorf("what is parked was swept: %+v", got)
	}
	if err := workqueue.Unpark(s.Context(), s.Table, "act_1", s.Clock.Now()); !fault.Is(err, fault.Conflict) {
		t.Errorf("a record that has ended was unparked: %v", err)
	}
}

// A record's claims are released as soon as the worker can do that. Only after all tries the work is parked with its
// record open.
func TestSweep_ParksWorkWhoseRecordCannotBeEndedInTheEnd(t *testing.T) {
	s := newFixture(t, func() error { return errors.New("broken") })
	s.abandon = func(workflow.Call) error { return errors.New("the executor is broken") }
	s.beginWork()
	s.exhaustTries(maxTries)
	for range 2*endTries + 1 { // a sweep that cannot end the record, and one that starts it anew
		if _, err := s.handler(t.Context(), nil); err != nil && len(s.parkedWork()) > 0 {
			t.Error(err)
		}
		s.Clock.Advance(longestPause)
		s.Must(s.Workflow.(*workflow.Embedded).Idle(t.Context())) //nolint:forcetypeassert // the fixture made it
	}
	p := s.parkedWork()
	if len(p) != 1 || p[0].Ended || !strings.Contains(p[0].Why, "the executor is broken") ||
		len(s.ended) != endTries+1 {
		t.Fatalf("parked %+v after %d tries to end its record", p, len(s.ended))
	}
	s.Must(workqueue.Unpark(s.Context(), s.Table, "act_1", s.Clock.Now()))
	if got := s.sweep(); got.Looked != 1 || len(s.parkedWork()) != 0 {
		t.Errorf("unparked work was not started: %+v, parked %v", got, s.parkedWork())
	}
	s.exhaustFrom(p[0].Try + 1)
}

// exhaustFrom wants that unparked work has all its tries again.
func (s *fixture) exhaustFrom(try int) {
	s.Helper()
	w := workqueue.Work{ID: "act_1", Try: try}
	for range maxTries {
		s.waitForEnd(w.ExecutionName())
		s.Clock.Advance(longestPause)
		if got := s.sweep(); got.Retried != 1 || len(s.parkedWork()) != 0 {
			s.Fatalf("after %s: %+v", w.ExecutionName(), got)
		}
		w.Try++
	}
}

// Work that has ended its process the maximum number of times is not started again.
func TestSweep_ParksWorkThatEndedItsProcessesAtOnce(t *testing.T) {
	died := func() error { return &workflow.TaskError{Name: "Runtime.ExitError", Cause: "signal: killed"} }
	s := newFixture(t, died)
	broken := true
	s.abandon = func(workflow.Call) error {
		if broken {
			return errors.New("the executor is broken")
		}
		return nil
	}
	s.beginWork()
	s.waitForEnd("act_1")
	s.Clock.Advance(longestPause)
	if _, err := s.handler(t.Context(), nil); err == nil || len(s.parkedWork()) != 0 {
		t.Errorf("its record could not be ended: %v, parked %+v", err, s.parkedWork())
	}
	broken = false
	s.Clock.Advance(longestPause)
	if got := s.sweep(); got.Parked != 1 || s.calls.Load() != 1 {
		t.Errorf("swept %+v after %d calls", got, s.calls.Load())
	}
	if p := s.parkedWork(); len(p) != 1 || !p[0].Ended ||
		!strings.Contains(p[0].Why, "Runtime.ExitError: signal: killed") {
		t.Errorf("parked %+v", p)
	}
}

func TestEndings_NameEveryMachine(t *testing.T) {
	files := apitest.Value(filepath.Glob(filepath.Join(npmpeer.ModuleRoot(t), "statemachines", "*.asl.json")))(t)
	if len(files) != len(endings) {
		t.Errorf("%d machines, %d endings: add the task that ends the record of a new machine's work to endings",
			len(files), len(endings))
	}
	for _, file := range files {
		if _, ok := endings[strings.TrimSuffix(filepath.Base(file), ".asl.json")]; !ok {
			t.Errorf("%s has no ending", file)
		}
	}
}
