package workflowtest

import (
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/fault"
)

var cases = []struct {
	name    string
	machine string
	check   func(w *world)
}{
	{"an execution gives its output and its times", straight, func(w *world) {
		w.mustStart(`{"a":[1,"<&>"]}`)
		x := w.waitEnded()
		if x.Status != workflow.Succeeded || !sameJSON(x.Output, `{"a":[1,"<&>"],"p":{"done":true}}`) {
			w.t.Fatalf("%+v", x)
		}
		if !sameJSON(x.Input, `{"a":[1,"<&>"]}`) || x.Started.IsZero() || x.Stopped.Before(x.Started) {
			w.t.Fatalf("input or times are wrong: %+v", x)
		}
		if x.Machine != "m" || x.Name != "x-1" || x.Error != "" || x.Cause != "" {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"an execution that fails tells error and cause", fails, func(w *world) {
		w.mustStart(`{}`)
		if x := w.waitEnded(); x.Status != workflow.Failed || x.Error != "Broken" || x.Cause != "on purpose" ||
			x.Output != nil {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"an execution that takes too long is timed out", timesOut, func(w *world) {
		w.mustStart(`{}`)
		if x := w.waitEnded(); x.Status != workflow.TimedOut {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"a running execution is described as running", waits, func(w *world) {
		w.mustStart(`{"n":1}`)
		if x := w.describeExecution(); x.Status != workflow.Running || !x.Stopped.IsZero() ||
			!sameJSON(x.Input, `{"n":1}`) {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"the same start again does nothing while it runs", waits, func(w *world) {
		w.mustStart(`{"n":1,"m":2}`)
		if err := w.startExecution(`{"n":1,"m":2}`); err != nil {
			w.t.Fatal(err)
		}
	}},
	{"a start with another input conflicts", waits, func(w *world) {
		w.mustStart(`{"n":1}`)
		w.wantFault(w.startExecution(`{"n":2}`), fault.Conflict, "start with another input")
	}},
	{"a start after the end conflicts", straight, func(w *world) {
		w.mustStart(`{"n":1}`)
		w.waitEnded()
		w.wantFault(w.startExecution(`{"n":1}`), fault.Conflict, "start after the end")
	}},
	{"stopping aborts, and stopping again does nothing", waits, func(w *world) {
		w.mustStart(`{}`)
		for range 2 {
			if err := w.engine.Stop(w.t.Context(), "m", "x-1", "no longer wanted"); err != nil {
				w.t.Fatal(err)
			}
		}
		if x := w.waitEnded(); x.Status != workflow.Aborted || x.Stopped.IsZero() {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"an execution tells why it was stopped", waits, func(w *world) {
		w.mustStart(`{}`)
		if err := w.engine.Stop(w.t.Context(), "m", "x-1", "no longer wanted"); err != nil {
			w.t.Fatal(err)
		}
		if x := w.waitEnded(); x.Cause != "no longer wanted" {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"stopping what has ended changes nothing", straight, func(w *world) {
		w.mustStart(`{}`)
		w.waitEnded()
		if err := w.engine.Stop(w.t.Context(), "m", "x-1", "late"); err != nil {
			w.t.Fatal(err)
		}
		if x := w.describeExecution(); x.Status != workflow.Succeeded {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"what does not exist is not found", straight, func(w *world) {
		_, err := w.engine.Describe(w.t.Context(), "m", "nobody")
		w.wantFault(err, fault.NotFound, "describe")
		w.wantFault(w.engine.Stop(w.t.Context(), "m", "nobody", "x"), fault.NotFound, "stop")
	}},
	{"names and inputs that cannot be are refused", straight, func(w *world) {
		for _, name := range []string{"", "a b", "a/b", "ä", string(make([]byte, 81))} {
			w.wantFault(w.engine.Start(w.t.Context(), "m", name, 1), fault.Invalid, "start "+name)
		}
		w.wantFault(w.startExecution(tooLarge()), fault.Invalid, "start with a large input")
		w.wantFault(w.engine.Start(w.t.Context(), "m", "x-1", make(chan int)), fault.Invalid, "start with no JSON")
	}},
	{"a task calls its function", invokes, func(w *world) {
		w.mustStart(`{"n":7}`)
		if x := w.waitEnded(); x.Status != workflow.Succeeded || !sameJSON(x.Output, `{"got":{"n":7}}`) {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"a function's failure carries the name of its Go type", invokes, func(w *world) {
		w.mustStart(`{"fail":true}`)
		x := w.waitEnded()
		if x.Status != workflow.Failed || x.Error != "refused" ||
			!sameJSON([]byte(x.Cause), `{"errorMessage":"refused","errorType":"refused"}`) {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"a signal answers a task that waits", answers, func(w *world) {
		w.mustStart(`{}`)
		token := w.receivedToken()
		if err := w.engine.Signal(w.t.Context(), token, map[string]int{"n": 1}, nil); err != nil {
			w.t.Fatal(err)
		}
		if x := w.waitEnded(); x.Status != workflow.Succeeded || !sameJSON(x.Output, `{"n":1}`) {
			w.t.Fatalf("%+v", x)
		}
		if err := w.engine.Signal(w.t.Context(), token, 2, nil); err == nil {
			w.t.Fatal("a second answer must be refused")
		}
	}},
	{"a signal fails a task that waits", answers, func(w *world) {
		w.mustStart(`{}`)
		failure := &workflow.TaskError{Name: "Declined", Cause: "by a person"}
		if err := w.engine.Signal(w.t.Context(), w.receivedToken(), nil, failure); err != nil {
			w.t.Fatal(err)
		}
		if x := w.waitEnded(); x.Status != workflow.Failed || x.Error != "Declined" || x.Cause != "by a person" {
			w.t.Fatalf("%+v", x)
		}
	}},
	{"a token that is none is refused", answers, func(w *world) {
		w.wantFault(w.engine.Signal(w.t.Context(), "not a token", 1, nil), fault.Invalid, "signal")
	}},
}
