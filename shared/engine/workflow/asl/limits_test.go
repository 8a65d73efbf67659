package asl

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

const callsFn = `"Type":"Task","Resource":"arn:aws:lambda:us-east-1:123456789012:function:fn"`

// runOn runs a machine with the input and one function, "fn".
func runOn(t *testing.T, definition, input string, fn testTask) (string, error) {
	t.Helper()
	w := newFixture()
	w.tasks = map[string]testTask{"fn": fn}
	var out json.RawMessage
	var err error
	synctest.Test(t, func(t *testing.T) {
		out, err = mustParse(t, definition).Run(t.Context(), w.env(startTicking(t)), newExecution(input))
	})
	return string(out), err
}

func failsAs(t *testing.T, err error, name string) {
	t.Helper()
	if e, ok := errors.AsType[*Error](err); !ok || e.Name != name {
		t.Fatalf("got %v, want %s", err, name)
	}
}

func TestAPayloadHasAtMost262144Bytes(t *testing.T) {
	const catching = `{"StartAt":"T","States":{"T":{` + callsFn + `,"End":true,
		"Catch":[{"ErrorEquals":["States.ALL"],"Next":"C"}]},"C":{"Type":"Succeed"}}}`
	text := func(n int) testTask {
		return func(context.Context, map[string]any) (any, error) { return strings.Repeat("é", n/2-1), nil }
	}
	if out, err := runOn(t, catching, `1`, text(MaxPayload)); err != nil || len(out) != MaxPayload {
		t.Fatalf("%d bytes must pass, got %d and %v", MaxPayload, len(out), err)
	}
	_, err := runOn(t, catching, `1`, text(MaxPayload+2))
	failsAs(t, err, "States.DataLimitExceeded") // States.ALL does not catch it
	named := strings.Replace(catching, "States.ALL", "States.DataLimitExceeded", 1)
	if _, err := runOn(t, named, `1`, text(MaxPayload+2)); err != nil {
		t.Fatalf("its own name catches it: %v", err)
	}
	grows := `{"StartAt":"P","States":{"P":{"Type":"Pass","Parameters":{"a.$":"$","b.$":"$"},"Next":"P2"},` +
		`"P2":{"Type":"Succeed"}}}`
	_, err = runOn(t, grows, `"`+strings.Repeat("x", 140_000)+`"`, nil)
	failsAs(t, err, "States.DataLimitExceeded")
}

func TestAnExecutionHasAtMost25000Events(t *testing.T) {
	const loop = `{"StartAt":"A","States":{"A":{"Type":"Pass","Next":"C"},
		"C":{"Type":"Choice","Choices":[{"Variable":"$.stop","BooleanEquals":true,"Next":"S"}],"Default":"A"},` +
		`"S":{"Type":"Succeed"}}}`
	_, err := runOn(t, loop, `{"stop":false}`, nil)
	failsAs(t, err, "States.Runtime")
	const each = `{"StartAt":"M","States":{"M":{"Type":"Map","End":true,
		"Catch":[{"ErrorEquals":["States.ALL"],"Next":"S"}],
		"ItemProcessor":{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}},"S":{"Type":"Succeed"}}}`
	// 3 events for each item, and 6 others including ExecutionStarted and ExecutionSucceeded
	items := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat("0,", n), ",") + "]" }
	if _, err := runOn(t, each, items(8_331), nil); err != nil {
		t.Fatalf("24,999 events must pass: %v", err)
	}
	_, err = runOn(t, each, items(8_332), nil)
	failsAs(t, err, "States.Runtime")
	distributed := strings.Replace(each, `"ItemProcessor":{`,
		`"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},`, 1)
	if _, err := runOn(t, distributed, items(8_332), nil); err != nil {
		t.Fatalf("the items of a distributed Map have histories of their own: %v", err)
	}
}

func TestStatesRuntimeIsNeverCaughtNorRetried(t *testing.T) {
	const m = `{"StartAt":"T","States":{"T":{` + callsFn + `,"Parameters":{"x.$":"$.absent"},"End":true,
		"Retry":[{"ErrorEquals":["States.Runtime"]},{"ErrorEquals":["States.ALL"]}],
		"Catch":[{"ErrorEquals":["States.Runtime"],"Next":"C"},{"ErrorEquals":["States.ALL"],"Next":"C"}]},` +
		`"C":{"Type":"Succeed"}}}`
	_, err := runOn(t, m, `{}`, nil)
	failsAs(t, err, "States.Runtime")
}

func TestAnInlineMapRunsAtMost40ItemsAtOnce(t *testing.T) {
	for written, want := range map[string]int64{
		`"MaxConcurrency":0,`: 40, `"MaxConcurrency":1000,`: 40,
		`"MaxConcurrency":7,`: 7,
	} {
		var now, most atomic.Int64
		var once sync.Mutex
		full := make(chan struct{})
		m := `{"StartAt":"M","States":{"M":{"Type":"Map",` + written + `"End":true,
			"ItemProcessor":{"StartAt":"T","States":{"T":{` + callsFn + `,"End":true}}}}}}`
		_, err := runOn(t, m, `[`+strings.Repeat("1,", 199)+`1]`, func(context.Context, map[string]any) (any, error) {
			n := now.Add(1)
			defer now.Add(-1)
			once.Lock()
			if most.Store(max(most.Load(), n)); n == want && most.Load() == want {
				closeOnce(full)
			}
			once.Unlock()
			select { // until as many as allowed are here; a further one would arrive while they leave
			case <-full:
			case <-time.After(5 * time.Second):
			}
			return 1, nil
		})
		if err != nil || most.Load() != want {
			t.Errorf("%s %d items at once, want %d; %v", written, most.Load(), want, err)
		}
	}
}

func closeOnce(ch chan struct{}) {
	select {
	case <-ch:
	default:
		close(ch)
	}
}

func TestRetry_WaitsAsLongAsItsFieldsSay(t *testing.T) {
	const growing = `"IntervalSeconds":2,"MaxAttempts":4,"BackoffRate":3,"MaxDelaySeconds":20`
	for name, c := range map[string]struct {
		fields string
		drawn  []float64
		want   []time.Duration
	}{
		"longer each time, up to MaxDelaySeconds": {growing, []float64{0.5, 0.5, 0.5, 0.5}, []time.Duration{
			2 * time.Second, 6 * time.Second, 18 * time.Second, 20 * time.Second,
		}},
		"with jitter the part that was drawn": {
			growing + `,"JitterStrategy":"FULL"`,
			[]float64{0.5, 0.25, 0, 0.75},
			[]time.Duration{
				time.Second, 1500 * time.Millisecond, 0, 15 * time.Second,
			},
		},
		"all of it where jitter is switched off": {
			`"IntervalSeconds":8,"MaxAttempts":1,"JitterStrategy":"NONE"`,
			[]float64{0.5},
			[]time.Duration{8 * time.Second},
		},
	} {
		t.Run(name, func(t *testing.T) { retryWaits(t, c.fields, c.drawn, c.want) })
	}
}

// retryWaits runs a task that always fails, with the given fields of Retry and the given jitter. The clock moves ahead
// by exactly the wanted delays, so that longer and shorter waits are detected.
func retryWaits(t *testing.T, fields string, drawn []float64, want []time.Duration) {
	t.Helper()
	clk, w := clock.NewManual(epoch), newFixture()
	w.tasks = map[string]testTask{"fn": func(context.Context, map[string]any) (any, error) {
		return nil, &Error{Name: "E", Cause: ""}
	}}
	m := mustParse(t,
		`{"StartAt":"T","States":{"T":{`+callsFn+`,"End":true,"Retry":[{"ErrorEquals":["E"],`+fields+`}]}}}`)
	env, done := w.env(clk), make(chan error, 1)
	env.Random = func() float64 {
		next := drawn[0]
		drawn = drawn[1:]
		return next
	}
	go func() {
		_, err := m.Run(t.Context(), env, newExecution(`1`))
		done <- err
	}()
	for _, d := range want {
		if d == 0 { // there is no wait
			continue
		}
		if err := clk.AwaitSleepers(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		w.mu.Lock()
		got := w.frames[""].RetryAt.Sub(clk.Now())
		w.mu.Unlock()
		if got != d {
			t.Fatalf("the delay is %s, want %s", got, d)
		}
		clk.Advance(d)
	}
	failsAs(t, <-done, "E")
}

func TestRetry_DrawsItsJitterByItself(t *testing.T) {
	r, env := retrier{interval: 10, rate: 1, jitter: true}, Env{}
	seen := map[time.Duration]bool{}
	for range 100 {
		d := r.delayAfter(0, env.drawShare)
		if d < 0 || d >= 10*time.Second {
			t.Fatalf("the delay is %s, want less than 10s", d)
		}
		seen[d] = true
	}
	if len(seen) < 50 {
		t.Errorf("100 retries have %d delays between them: they come back together", len(seen))
	}
}

func TestCatchAssignsAndVariablesStayInTheirScope(t *testing.T) {
	const m = `{"StartAt":"A","States":{
		"A":{"Type":"Pass","Assign":{"n":1},"Next":"P"},
		"P":{"Type":"Parallel","ResultPath":null,"Next":"T","Branches":[{"StartAt":"B","States":{
			"B":{"Type":"Pass","Assign":{"inner.$":"States.MathAdd($n, 1)"},"End":true}}}]},
		"T":{` + callsFn + `,"End":true,"Catch":[{"ErrorEquals":["Boom"],"ResultPath":"$.e","Next":"C",` +
		`"Assign":{"why.$":"$.Cause","n.$":"States.MathAdd($n, 10)"}}]},
		"C":{"Type":"Pass","Parameters":{"why.$":"$why","n.$":"$n","e.$":"$.e.Error"},"End":true}}}`
	out, err := runOn(t, m, `{}`, func(context.Context, map[string]any) (any, error) {
		return nil, &Error{Name: "Boom", Cause: "it broke"}
	})
	if err != nil || out != `{"e":"Boom","n":11,"why":"it broke"}` {
		t.Fatalf("%s %v", out, err)
	}
}

func TestADistributedMapToleratesFailuresUpToItsThreshold(t *testing.T) {
	const m = `{"StartAt":"M","States":{"M":{"Type":"Map","ToleratedFailureCount":%d,"End":true,
		"ItemProcessor":{"ProcessorConfig":{"Mode":"DISTRIBUTED","ExecutionType":"STANDARD"},
		"StartAt":"T","States":{"T":{` + callsFn + `,"End":true}}}}}}`
	odd := func(_ context.Context, in map[string]any) (any, error) {
		if n, _ := toNumber(in["value"]); int(n)%2 == 1 {
			return nil, &Error{Name: "Odd", Cause: "no"}
		}
		return "even", nil
	}
	out, err := runOn(t, fmt.Sprintf(m, 2), `[0,1,2,3]`, odd)
	const failed = `{"Cause":"no","Error":"Odd","Status":"FAILED"}`
	if err != nil || out != `["even",`+failed+`,"even",`+failed+`]` {
		t.Fatalf("%s %v", out, err)
	}
	_, err = runOn(t, fmt.Sprintf(m, 1), `[0,1,2,3]`, odd)
	failsAs(t, err, "States.ExceedToleratedFailureThreshold")
}

func TestNumbersPassThroughDigitByDigit(t *testing.T) {
	const in = `{"big":12345678901234567890123,"exact":0.10,"text":"<&>\u2028"}`
	out, err := runOn(t, `{"StartAt":"P","States":{"P":{"Type":"Pass","End":true}}}`, in, nil)
	if err != nil || !strings.Contains(out, `"big":12345678901234567890123`) || !strings.Contains(out, `"exact":0.10`) {
		t.Fatalf("%s %v", out, err)
	}
}
