package platform_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

// line is the part of a log line that docs/operations/organisation-cost.md uses.
type line struct {
	Msg, Org, Task, Stage     string
	RoundTrips, States        int
	ReadUnits, WriteUnits, Ms float64
	Late, Failed              bool
	AWS                       map[string]any `json:"_aws"`
}

func linesOf(t *testing.T, log string) []line {
	t.Helper()
	var out []line
	for text := range strings.SplitSeq(strings.TrimSpace(log), "\n") {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out = append(out, l)
	}
	return out
}

// The cost of an organization is the sum of its lines: the cost of a worker's call must be in the lines of its
// organization only.
func TestLogged_AddsUpWhatEachOrganizationUses(t *testing.T) {
	var log bytes.Buffer
	clk := clock.NewManual(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	p := &platform.Platform{
		Table: table.Fenced(tabletest.NewAt(t, clk)), Clock: clk, Log: platform.JSONLog(&log),
		Settings: platform.Settings{Stage: "prod"},
	}
	h := p.Logged(func(ctx context.Context, in json.RawMessage) (any, error) {
		return nil, writeKilobytes(ctx, p.Table, in)
	})
	want := map[string]table.Usage{}
	for _, call := range []struct {
		org string
		kb  int
	}{{"org_a", 1}, {"org_b", 9}, {"org_a", 3}} {
		ctx, meter := table.WithMeter(t.Context())
		in, err := json.Marshal(map[string]any{"task": "keep", "input": map[string]any{"org": call.org, "kb": call.kb}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = h(ctx, in); err != nil {
			t.Fatal(err)
		}
		u := want[call.org]
		used := meter.Usage()
		want[call.org] = table.Usage{
			RoundTrips: u.RoundTrips + used.RoundTrips,
			ReadUnits:  u.ReadUnits + used.ReadUnits, WriteUnits: u.WriteUnits + used.WriteUnits,
		}
	}
	got, states := map[string]table.Usage{}, map[string]int{}
	for _, l := range linesOf(t, log.String()) {
		u := got[l.Org]
		got[l.Org] = table.Usage{
			RoundTrips: u.RoundTrips + l.RoundTrips, ReadUnits: u.ReadUnits + l.ReadUnits,
			WriteUnits: u.WriteUnits + l.WriteUnits,
		}
		states[l.Org] += l.States
	}
	if len(got) != 2 || got["org_a"] != want["org_a"] || got["org_b"] != want["org_b"] {
		t.Errorf("the lines add up to %+v, used were %+v", got, want)
	}
	if want["org_b"].WriteUnits < 9 || states["org_a"] != 6 || states["org_b"] != 3 {
		t.Errorf("used were %+v and states %v", want, states)
	}
}

// writeKilobytes writes as many KB as the input says, and reads them.
func writeKilobytes(ctx context.Context, s table.Store, in json.RawMessage) error {
	var c struct {
		Input struct {
			Org string
			KB  int
		}
	}
	if err := json.Unmarshal(in, &c); err != nil {
		return err
	}
	key := table.Key{PK: table.OrgPK(c.Input.Org) + "META", SK: "kept"}
	ctx = table.WithOrg(ctx, c.Input.Org)
	item, err := table.NewItem(key, map[string]string{"text": strings.Repeat("x", c.Input.KB*1024)})
	if err != nil {
		return err
	}
	if _, err = s.Write(ctx, table.Put(item)); err != nil {
		return err
	}
	_, err = s.Get(ctx, key)
	return err
}

// chained is the part of a state that the next test reads.
type chained struct {
	Type, Next, Default string
	ItemProcessor       struct{ States map[string]chained }
	Parameters          struct{ Payload struct{ Task string } }
}

// statesOfRounds returns for each task how many states are entered until it is entered again without another task in
// between.
func statesOfRounds(states map[string]chained) map[string]int {
	out := map[string]int{}
	for name, s := range states {
		maps.Copy(out, statesOfRounds(s.ItemProcessor.States))
		if s.Type != "Task" {
			continue
		}
		n := 1
		for at := s.Next; at != name; at = states[at].Next + states[at].Default {
			if n++; at == "" || states[at].Type == "Task" {
				n = 0
				break
			}
		}
		if n > 0 {
			out[s.Parameters.Payload.Task] = n
		}
	}
	return out
}

// Step Functions is billed by state. A worker cannot see the states that its machine enters, but nearly all are in
// rounds with this number of states.
func TestLogged_CountsTheStatesOfARound(t *testing.T) {
	files, err := filepath.Glob("../../../statemachines/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d state machines, %v", len(files), err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ States map[string]chained }
		if err = json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		got := statesOfRounds(m.States)
		for task, n := range got {
			if _, _, states := platform.CalledFor(json.RawMessage(`{"task":"` + task +
				`","input":{"org":"org_a"}}`)); n != states {
				t.Errorf("%s: a round of %s enters %d states, counted are %d", file, task, n, states)
			}
		}
		if len(got) == 0 && filepath.Base(file) != "cost-export.asl.json" { // it ends without a round
			t.Errorf("%s goes round in no task", file)
		}
	}
}

func TestLogged_TellsHowACallWent(t *testing.T) {
	for name, c := range map[string]struct {
		input string
		took  time.Duration
		err   error
		stage string
		want  line
		emf   bool
	}{
		"a task of a machine": {
			`{"task":"run","input":{"org":"org_a"}}`, 79 * time.Second, nil, "prod",
			line{Org: "org_a", Task: "run", States: 3},
			true,
		},
		"a task near its time-out": {
			`{"task":"run","input":{"org":"org_a"}}`, 80 * time.Second, nil, "prod",
			line{Org: "org_a", Task: "run", States: 3, Late: true},
			true,
		},
		"a task that failed": {
			`{"task":"run","input":{"org":"org_a"}}`, 0, errors.New("no"), "prod",
			line{Org: "org_a", Task: "run", States: 3, Failed: true},
			true,
		},
		"a schedule's call":          {`{}`, 0, nil, "prod", line{}, true},
		"outside of AWS, no metrics": {`{}`, 0, nil, "", line{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			clk := clock.NewManual(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
			p := &platform.Platform{
				Clock: clk, Log: platform.JSONLog(&log),
				Settings: platform.Settings{Stage: c.stage},
			}
			ctx := lasting{t.Context(), clk.Now().Add(100 * time.Second)}
			_, err := p.Logged(func(context.Context, json.RawMessage) (any, error) {
				clk.Advance(c.took)
				return nil, c.err
			})(ctx, json.RawMessage(c.input))
			if !errors.Is(err, c.err) {
				t.Fatal(err)
			}
			got := linesOf(t, log.String())[0]
			metrics := got.AWS != nil
			got.AWS, got.Ms, c.want.Msg, c.want.Stage = nil, 0, "task", c.stage
			if encodeText(t, got) != encodeText(t, c.want) || metrics != c.emf {
				t.Errorf("got %s, want %s; metrics %v", log.String(), encodeText(t, c.want), metrics)
			}
		})
	}
}

// lasting is a context with a deadline of a manual clock.
type lasting struct {
	context.Context
	at time.Time
}

func (c lasting) Deadline() (time.Time, bool) { return c.at, true }

func encodeText(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// CloudWatch requires exactly this format (user guide, "Specification: Embedded metric format"): each metric name is a
// number in the line, and the dimension is a text in it. The organization must be neither, because it would be billed.
func TestMetrics_AreWhatCloudWatchEmbeds(t *testing.T) {
	var log bytes.Buffer
	clk := clock.NewManual(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	p := &platform.Platform{Clock: clk, Log: platform.JSONLog(&log), Settings: platform.Settings{Stage: "prod"}}
	p.Log.LogAttrs(t.Context(), 0, "request",
		p.Used(clk.Now(), table.Usage{RoundTrips: 2, ReadUnits: 1.5, WriteUnits: 4}, 3)...)
	var got map[string]json.RawMessage
	if err := json.Unmarshal(log.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	const want = `{"Timestamp":1795338000000,"CloudWatchMetrics":[{"Namespace":"Lamplighter",` +
		`"Dimensions":[["stage"]],"Metrics":[{"Name":"readUnits"},{"Name":"writeUnits"},{"Name":"states"}]}]}`
	if string(got["_aws"]) != want {
		t.Errorf("got  %s\nwant %s", got["_aws"], want)
	}
	for name, v := range map[string]string{
		"stage": `"prod"`, "readUnits": "1.5", "writeUnits": "4", "states": "3",
		"roundTrips": "2",
	} {
		if string(got[name]) != v {
			t.Errorf("%s is %s, want %s", name, got[name], v)
		}
	}
}
