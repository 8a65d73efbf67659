package asl

import (
	"context"
	"testing"
)

// BenchmarkStates runs an execution of 1,000 states: a loop of Pass and Choice, without a journal.
func BenchmarkStates(b *testing.B) {
	m := mustParse(b, `{"StartAt":"Add","States":{
		"Add":{"Type":"Pass","Parameters":{"n.$":"States.MathAdd($.n, 1)","text.$":"$.text"},"Next":"More"},
		"More":{"Type":"Choice","Choices":[{"Variable":"$.n","NumericLessThan":500,"Next":"Add"}],"Default":"Done"},
		"Done":{"Type":"Succeed"}}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(b.Context(), Env{Clock: instant{}},
			newExecution(`{"n":0,"text":"some words"}`)); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1001/b.Elapsed().Seconds(), "states/s")
}

// BenchmarkTasks runs an execution of one Task, with its frames in memory.
func BenchmarkTasks(b *testing.B) {
	m := mustParse(b,
		`{"StartAt":"T","States":{"T":{`+callsFn+`,"Retry":[{"ErrorEquals":["States.ALL"]}],"End":true}}}`)
	w := newFixture()
	w.tasks = map[string]testTask{"fn": func(_ context.Context, in map[string]any) (any, error) { return in, nil }}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Run(b.Context(), w.env(instant{}), newExecution(`{"id":"act_1","n":1}`)); err != nil {
			b.Fatal(err)
		}
	}
}
