package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/workflow"
)

// BenchmarkTaskOverhead runs a chain of 100 tasks that do nothing, on the embedded store without fsync. It measures the
// cost of a task without its work.
func BenchmarkTaskOverhead(b *testing.B) {
	var states []string
	for i := range 99 {
		states = append(states, fmt.Sprintf(`"S%d":{"Type":"Task","Resource":"${Fn}","Next":"S%d"}`, i, i+1))
	}
	definition := `{"StartAt":"S0","States":{` + strings.Join(states, ",") +
		`,"S99":{"Type":"Task","Resource":"${Fn}","Next":"End"},
		"End":{"Type":"Task","Resource":"arn:aws:lambda:local:000000000000:function:end","End":true}}}`
	done := make(chan struct{}, 1)
	handlers := withHandler(func(_ context.Context, in json.RawMessage) (any, error) { return in, nil })
	handlers["end"] = func(context.Context, json.RawMessage) (any, error) { done <- struct{}{}; return 1, nil }
	e := openEngine(b, workflow.Parts{Machines: parseMachine(b, definition), Handlers: handlers})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if err := e.Start(b.Context(), "m", fmt.Sprintf("x%d", n),
			map[string]string{"org": "org_1", "actionID": "act_1"}); err != nil {
			b.Fatal(err)
		}
		<-done
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*101), "µs/task")
}

// BenchmarkMapItems runs a Map of 200 items with one task each, 20 at the same time.
func BenchmarkMapItems(b *testing.B) {
	const definition = `{"StartAt":"M","States":{"M":{"Type":"Map","MaxConcurrency":20,"Next":"End","ResultPath":null,
		"ItemProcessor":{"StartAt":"T","States":{"T":{"Type":"Task","Resource":"${Fn}","End":true}}}},
		"End":{"Type":"Task","Resource":"arn:aws:lambda:local:000000000000:function:end","End":true}}}`
	done := make(chan struct{}, 1)
	handlers := withHandler(func(_ context.Context, in json.RawMessage) (any, error) { return in, nil })
	handlers["end"] = func(context.Context, json.RawMessage) (any, error) { done <- struct{}{}; return 1, nil }
	e := openEngine(b, workflow.Parts{Machines: parseMachine(b, definition), Handlers: handlers})
	items := make([]map[string]any, 200)
	for i := range items {
		items[i] = map[string]any{"org": "org_1", "bulkID": "bulk_1", "chunk": i}
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if err := e.Start(b.Context(), "m", fmt.Sprintf("x%d", n), items); err != nil {
			b.Fatal(err)
		}
		<-done
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(n*200), "µs/item")
}

// BenchmarkExecution runs executions of one task, from Start to the task.
func BenchmarkExecution(b *testing.B) {
	done := make(chan struct{}, 1)
	e := openEngine(b, workflow.Parts{Machines: parseMachine(b, oneTask), Handlers: withHandler(
		func(context.Context, json.RawMessage) (any, error) { done <- struct{}{}; return 1, nil })})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if err := e.Start(b.Context(), "m", fmt.Sprintf("x%d", n),
			map[string]string{"org": "org_1", "actionID": "act_1"}); err != nil {
			b.Fatal(err)
		}
		<-done
	}
}
