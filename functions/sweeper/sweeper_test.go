package sweeper

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/engine/workqueue"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

var noon = time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)

const machine = `{"StartAt":"Do","States":{"Do":{"Type":"Task","Resource":"arn:aws:states:::lambda:invoke","Parameters":{"FunctionName":"${DoFunctionArn}","Payload.$":"$"},"End":true}}}`

// scene is a platform whose one machine calls do.
type scene struct {
	t     *testing.T
	ctx   context.Context
	p     *platform.Platform
	clock *clock.Manual
	calls atomic.Int32
}

func newScene(t *testing.T, do func() error) *scene {
	t.Helper()
	s := &scene{t: t, clock: clock.NewManual(noon), ctx: table.Within(t.Context(), workqueue.Prefix)}
	store := table.Fenced(tabletest.NewAt(t, s.clock))
	machines, err := workflow.Machines(fstest.MapFS{"action.asl.json": {Data: []byte(machine)}}, map[string]string{"DoFunctionArn": "do"})
	s.must(err)
	engine, err := workflow.NewEmbedded(workflow.Parts{
		Store: store, Clock: s.clock, Machines: machines, Log: slog.New(slog.DiscardHandler),
		Handlers: map[string]workflow.Handler{"do": func(context.Context, json.RawMessage) (any, error) {
			s.calls.Add(1)
			return nil, do()
		}},
	})
	s.must(err)
	t.Cleanup(func() { _ = engine.Close() })
	s.p = &platform.Platform{Table: store, Clock: s.clock, Workflow: engine, Log: slog.New(slog.DiscardHandler)}
	return s
}

func (s *scene) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// add lists work, as the transaction that begins it does.
func (s *scene) add(id string) {
	s.t.Helper()
	w, err := workqueue.Add(workqueue.Work{ID: id, Org: "org_1", Machine: "action", At: s.clock.Now()}, map[string]string{"org": "org_1"})
	s.must(err)
	_, err = s.p.Table.Write(s.ctx, w)
	s.must(err)
}

func (s *scene) sweep() Swept {
	s.t.Helper()
	got, err := Sweep(s.t.Context(), s.p, settled)
	s.must(err)
	return got
}

// ends waits until the execution of the name has ended.
func (s *scene) ends(name string) workflow.Status {
	s.t.Helper()
	x, err := s.p.Workflow.(*workflow.Embedded).Wait(s.t.Context(), "action", name) //nolint:forcetypeassert // newScene made it
	s.must(err)
	return x.Status
}

func TestWorkWhoseMachineWasNeverStartedIsStarted(t *testing.T) {
	s := newScene(t, func() error { return nil })
	s.add("act_1")
	if got := s.sweep(); got != (Swept{}) {
		t.Errorf("swept work that has just begun: %+v", got)
	}
	s.clock.Advance(time.Minute)
	if got := s.sweep(); got != (Swept{Looked: 1, Started: 1}) {
		t.Errorf("swept %+v", got)
	}
	if got := s.ends("act_1"); got != workflow.Succeeded || s.calls.Load() != 1 {
		t.Errorf("%s after %d calls", got, s.calls.Load())
	}
}

func TestWorkThatRunsIsLeftAlone(t *testing.T) {
	hold := make(chan struct{})
	s := newScene(t, func() error { <-hold; return nil })
	s.add("act_1")
	s.must(s.p.Workflow.Start(t.Context(), "action", "act_1", json.RawMessage(`{"org":"org_1"}`)))
	s.clock.Advance(time.Minute)
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
	s := newScene(t, func() error { return errors.New("broken") })
	s.add("act_1")
	s.must(s.p.Workflow.Start(t.Context(), "action", "act_1", json.RawMessage(`{"org":"org_1"}`)))
	for _, name := range []string{"act_1", "act_1-1", "act_1-2"} {
		if got := s.ends(name); got != workflow.Failed {
			t.Fatalf("%s: %s", name, got)
		}
		s.clock.Advance(time.Minute)
		if got := s.sweep(); got.Started != 1 {
			t.Errorf("after %s: %+v", name, got)
		}
	}
	if _, err := s.p.Table.Write(s.ctx, workqueue.Done("act_1")); err != nil {
		t.Fatal(err)
	}
	s.clock.Advance(time.Minute)
	if got := s.sweep(); got != (Swept{}) {
		t.Errorf("ended work was swept: %+v", got)
	}
}

func TestOnePieceThatCannotBeStartedDoesNotHoldUpTheOthers(t *testing.T) {
	s := newScene(t, func() error { return nil })
	w, err := workqueue.Add(workqueue.Work{ID: "job_0", Org: "org_1", Machine: "unknown", At: noon}, nil)
	s.must(err)
	_, err = s.p.Table.Write(s.ctx, w)
	s.must(err)
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		s.add(id)
	}
	s.clock.Advance(time.Minute)
	got, err := Sweep(t.Context(), s.p, settled)
	if got.Looked != 5 || got.Started < 4 || err == nil || fault.KindOf(err) != fault.Internal {
		t.Errorf("swept %+v: %v", got, err)
	}
	for _, id := range []string{"act_1", "act_2", "act_3", "act_4"} {
		s.ends(id)
	}
}
