package sweeper

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

const machine = `{"StartAt":"Do","States":{"Do":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"${DoFunctionArn}","Payload.$":"$"},"End":true}}}`

// fixture is a platform whose one machine calls do.
type fixture struct {
	*apitest.Fixture
	calls atomic.Int32
}

func newFixture(t *testing.T, do func() error) *fixture {
	t.Helper()
	s := &fixture{Fixture: apitest.New(t)}
	s.RunMachines(fstest.MapFS{"action.asl.json": {Data: []byte(machine)}}, map[string]workflow.Handler{
		"do": func(context.Context, json.RawMessage) (any, error) {
			s.calls.Add(1)
			return nil, do()
		},
	})
	return s
}

// add lists work, as the transaction that begins it does.
func (s *fixture) add(id string) {
	s.Helper()
	w := apitest.Value(workqueue.AddWork(workqueue.Work{ID: id, Org: "org_1", Machine: "action", At: s.Clock.Now()}, map[string]string{"org": "org_1"}))(s)
	s.Write(w)
}

func (s *fixture) sweep() Swept {
	s.Helper()
	got := apitest.Value(SweepPending(s.Context(), s.Platform, settled))(s)
	return got
}

// ends waits until the execution of the name has ended.
func (s *fixture) ends(name string) workflow.Status {
	s.Helper()
	return apitest.Value(s.Workflow.(*workflow.Embedded).Wait(s.Context(), "action", name))(s).Status //nolint:forcetypeassert // the fixture made it
}

func TestWorkWhoseMachineWasNeverStartedIsStarted(t *testing.T) {
	s := newFixture(t, func() error { return nil })
	s.add("act_1")
	if got := s.sweep(); got != (Swept{}) {
		t.Errorf("swept work that has just begun: %+v", got)
	}
	s.Clock.Advance(time.Minute)
	if got := s.sweep(); got != (Swept{Looked: 1, Started: 1}) {
		t.Errorf("swept %+v", got)
	}
	if got := s.ends("act_1"); got != workflow.Succeeded || s.calls.Load() != 1 {
		t.Errorf("%s after %d calls", got, s.calls.Load())
	}
}

func TestWorkThatRunsIsLeftAlone(t *testing.T) {
	hold := make(chan struct{})
	s := newFixture(t, func() error { <-hold; return nil })
	s.add("act_1")
	s.Must(s.Workflow.Start(t.Context(), "action", "act_1", json.RawMessage(`{"org":"org_1"}`)))
	s.Clock.Advance(time.Minute)
	for range 3 {
		if got := s.sweep(); got != (Swept{Looked: 1}) {
			t.Errorf("swept %+v", got)
		}
	}
	close(hold)
	if s.ends("act_1"); s.calls.Load() != 1 {
		t.Errorf("called %d times", s.calls.Load())
	}
}

func TestWorkWhoseMachineFailedIsTriedUnderAnotherName(t *testing.T) {
	s := newFixture(t, func() error { return errors.New("broken") })
	s.add("act_1")
	s.Must(s.Workflow.Start(t.Context(), "action", "act_1", json.RawMessage(`{"org":"org_1"}`)))
	for _, name := range []string{"act_1", "act_1-1", "act_1-2"} {
		if got := s.ends(name); got != workflow.Failed {
			t.Fatalf("%s: %s", name, got)
		}
		s.Clock.Advance(time.Minute)
		if got := s.sweep(); got.Started != 1 {
			t.Errorf("after %s: %+v", name, got)
		}
	}
	s.Write(workqueue.RemoveWork("act_1"))
	s.Clock.Advance(time.Minute)
	if got := s.sweep(); got != (Swept{}) {
		t.Errorf("ended work was swept: %+v", got)
	}
}

func TestOnePieceThatCannotBeStartedDoesNotHoldUpTheOthers(t *testing.T) {
	s := newFixture(t, func() error { return nil })
	w := apitest.Value(workqueue.AddWork(workqueue.Work{ID: "job_0", Org: "org_1", Machine: "unknown", At: apitest.Start}, nil))(s)
	s.Write(w)
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		s.add(id)
	}
	s.Clock.Advance(time.Minute)
	got, err := SweepPending(t.Context(), s.Platform, settled)
	if got.Looked != 5 || got.Started < 4 || err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("swept %+v: %v", got, err)
	}
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		s.ends(id)
	}
}
