package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/jsii-runtime-go"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/clock"
)

// deployment is a simulated stack. Lines of its log pass through its metric filters and events through its rule, and
// it measures the results as AWS does.
type deployment struct {
	t       *testing.T
	stage   Stage
	filters map[string]metricFilter
	rules   map[string]rule
	alarms  map[string]alarm
	points  points
	minute  int
	access  string // the format of the access log
}

type metricFilter struct {
	LogGroupName          struct{ Ref string }
	FilterPattern         string
	MetricTransformations []struct {
		MetricNamespace, MetricValue string
		MetricName                   any
	}
}

type rule struct {
	EventPattern map[string]any
	Targets      []struct{ Arn any }
}

func deploy(t *testing.T, s Stage) *deployment {
	t.Helper()
	out := synthesized(t, s)
	return &deployment{
		t: t, stage: s,
		filters: resources[metricFilter](t, out, "AWS::Logs::MetricFilter"),
		rules:   resources[rule](t, out, "AWS::Events::Rule"),
		alarms:  resources[alarm](t, out, "AWS::CloudWatch::Alarm"),
		access:  formatOf(t, out),
	}
}

// measure records a value of a metric.
func (d *deployment) measure(v float64, metric string) {
	if d.points[metric] == nil {
		d.points[metric] = map[int][]float64{}
	}
	d.points[metric][d.minute] = append(d.points[metric][d.minute], v)
}

// valueOf returns the value that a metric filter reads from a line: a member of the line, or a constant number.
func valueOf(t *testing.T, value, line string) float64 {
	t.Helper()
	p := filterPattern{t: t}
	if err := json.Unmarshal([]byte(line), &p.line); err != nil {
		t.Fatal(err)
	}
	if n, ok := p.member(value).(float64); ok {
		return n
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatalf("the line has no number %s: %s", value, line)
	}
	return n
}

// log writes a line into the log group of functions. The metric filters turn it into metrics.
func (d *deployment) log(line string) {
	d.t.Helper()
	d.logInto("Logs", line)
}

func (d *deployment) logInto(group, line string) {
	d.t.Helper()
	for _, f := range d.filters {
		if f.LogGroupName.Ref == group && matchesLine(d.t, f.FilterPattern, line) {
			for _, m := range f.MetricTransformations {
				d.measure(valueOf(d.t, m.MetricValue, line), m.MetricNamespace+" "+literal(m.MetricName))
			}
		}
	}
}

// event puts an event on the bus. A matching rule sends it to its queue.
func (d *deployment) event(e map[string]any) {
	d.t.Helper()
	for _, r := range d.rules {
		if matchesEvent(d.t, r.EventPattern, e) {
			if to := fmt.Sprint(r.Targets[0].Arn); !strings.Contains(to, "StoppedExecutions") {
				d.t.Fatalf("the rule sends to %s", to)
			}
			d.measure(1, "AWS/SQS ApproximateNumberOfMessagesVisible QueueName=${StoppedExecutions.QueueName}")
		}
	}
}

// report writes Lambda's log line about an invocation.
func (d *deployment) report(status string, size, used int) {
	d.t.Helper()
	d.log(fmt.Sprintf(`{"time":"2026-11-22T09:30:29.470Z","type":"platform.report",`+
		`"record":{"requestId":"79b5e81f-9cdd-4145-b1f6-7c50ef8a2a36",`+
		`"metrics":{"durationMs":1233.96,"billedDurationMs":1698,"memorySizeMB":%d,"maxMemoryUsedMB":%d,`+
		`"initDurationMs":463.512},"status":%q}}`, size, used, status))
}

// ends puts the end of an execution on the bus, in the form of Step Functions (developer guide, "Automating event
// delivery with EventBridge").
func (d *deployment) ends(machine, status string, cause any) {
	d.t.Helper()
	d.event(map[string]any{
		"source": "aws.states", "detail-type": "Step Functions Execution Status Change",
		"detail": map[string]any{
			"stateMachineArn": "arn:aws:states:eu-west-1:123456789012:stateMachine:" + machine, "status": status,
			"name": "x", "cause": cause,
		},
	})
}

// lines returns the log lines that a platform of the stage writes during do.
func (d *deployment) lines(do func(*platform.Platform, *clock.Manual)) []string {
	var b bytes.Buffer
	clk := clock.NewManual(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	do(&platform.Platform{Clock: clk, Log: platform.JSONLog(&b), Settings: platform.Settings{Stage: d.stage.Name}}, clk)
	return strings.Split(strings.TrimSpace(b.String()), "\n")
}

// task runs a task of a worker with a time-out of 100 s.
func (d *deployment) task(took time.Duration) {
	d.t.Helper()
	for _, line := range d.lines(func(p *platform.Platform, clk *clock.Manual) {
		ctx := deadlined{d.t.Context(), clk.Now().Add(100 * time.Second)}
		h := p.Logged(func(context.Context, json.RawMessage) (any, error) { clk.Advance(took); return nil, nil })
		if _, err := h(ctx, json.RawMessage(`{"task":"run","input":{"org":"org_1"}}`)); err != nil {
			d.t.Fatal(err)
		}
	}) {
		d.log(line)
	}
}

// deadlined is a context that ends at a time of a manual clock.
type deadlined struct {
	context.Context
	at time.Time
}

func (c deadlined) Deadline() (time.Time, bool) { return c.at, true }

// swept writes the log line of the sweeper.
func (d *deployment) swept(oldest, parked int) {
	for _, line := range d.lines(func(p *platform.Platform, _ *clock.Manual) {
		p.Log.Info("swept", "pending", 1, "parked", parked, "oldestPendingSeconds", oldest)
	}) {
		d.log(line)
	}
}

// healthy simulates five minutes without faults. They contain refusals that are correct.
func (d *deployment) healthy() {
	d.report("success", 256, 120)
	d.report("success", 512, 409) // four fifths: functions are sized for that
	d.report("error", 320, 60)    // the authorizer refuses a credential
	d.task(50 * time.Second)
	d.swept(80_000, 0) // an erasure waits for late writers
	d.ends("lamplighter-"+d.stage.Name+"-action", "SUCCEEDED", nil)
	d.ends("lamplighter-"+d.stage.Name+"-action", "ABORTED", "the organization was deleted")
	d.ends("another-application", "FAILED", "States.TaskFailed")
	d.measure(0, "AWS/ApiGateway 5XXError ApiName=lamplighter-"+d.stage.Name)
	d.measure(0, "AWS/SQS ApproximateNumberOfMessagesVisible QueueName=${DeadLetters.QueueName}")
	d.measure(2, "AWS/DynamoDB TransactionConflict TableName=map[Fn::If:[OwnTable map[Ref:Table] map[Ref:TableName]]]")
	d.measure(1, "AWS/DynamoDB WriteThrottleEvents TableName=map[Fn::If:[OwnTable map[Ref:Table] map[Ref:TableName]]]")
	d.measure(400, "AWS/Lambda IteratorAge FunctionName=lamplighter-"+d.stage.Name+"-mailer")
	d.measure(400, "AWS/Lambda IteratorAge FunctionName=lamplighter-"+d.stage.Name+"-notifier")
	d.measure(20, "AWS/Lambda Throttles")
	d.answers("200", 20)
	d.answers("401", 40) // old tokens, and mistyped passwords
	d.answers("403", 20)
}

// faults lists faults by the alarm that they raise. Each function simulates the fault's events of five minutes.
var faults = map[string]map[string]func(d *deployment){
	"Errors": {
		"an invocation fails":           func(d *deployment) { d.report("error", 512, 100) },
		"a function crashes":            func(d *deployment) { d.report("failure", 256, 100) },
		"a function runs out of time":   func(d *deployment) { d.report("timeout", 256, 100) },
		"the authorizer is out of time": func(d *deployment) { d.report("timeout", 320, 100) },
		"the log has an error": func(d *deployment) {
			for _, l := range d.lines(func(p *platform.Platform, _ *clock.Manual) {
				p.Log.Error("a mail is given up", "error", errors.New("550"))
			}) {
				d.log(l)
			}
		},
	},
	"NearLimits": {
		"a task takes 85 of its 100 seconds":   func(d *deployment) { d.task(85 * time.Second) },
		"a function fills its 256 MB":          func(d *deployment) { d.report("success", 256, 240) },
		"a function fills its 1,024 MB":        func(d *deployment) { d.report("success", 1024, 1000) },
		"the authorizer fills its 320 MB":      func(d *deployment) { d.report("success", 320, 310) },
		"a function of 512 MB is close to all": func(d *deployment) { d.report("success", 512, 461) },
	},
	"Refused": {"requests get 500": func(d *deployment) {
		d.measure(1, "AWS/ApiGateway 5XXError ApiName=lamplighter-"+d.stage.Name)
	}},
	"DeadLetters": {"a letter is dead": func(d *deployment) {
		d.measure(1, "AWS/SQS ApproximateNumberOfMessagesVisible QueueName=${DeadLetters.QueueName}")
	}},
	"StoppedExecutions": {
		"an execution fails": func(d *deployment) {
			d.ends("lamplighter-"+d.stage.Name+"-action", "FAILED", "x")
		},
		"an execution runs out of time": func(d *deployment) {
			d.ends("lamplighter-"+d.stage.Name+"-discovery", "TIMED_OUT", nil)
		},
		"somebody aborts an execution": func(d *deployment) {
			d.ends("lamplighter-"+d.stage.Name+"-erasure", "ABORTED", nil)
		},
		"somebody aborts one and says why": func(d *deployment) {
			d.ends("lamplighter-"+d.stage.Name+"-erasure", "ABORTED", "it hung")
		},
		"a chunk of a bulk action is abandoned": func(d *deployment) {
			d.ends("lamplighter-"+d.stage.Name+"-bulk-action/Chunks", "FAILED", "x")
		},
	},
	"Defects": {
		"work waits for more than a day": func(d *deployment) { d.swept(100_000, 0) },
		"work is parked":                 func(d *deployment) { d.swept(20, 1) },
		"a report does not add up": func(d *deployment) {
			for _, l := range d.lines(func(p *platform.Platform, _ *clock.Manual) {
				p.Log.Warn("a report does not add up", "unbalancedReports", 1, "org", "org_a")
			}) {
				d.log(l)
			}
		},
	},
	"TableThrottles": {
		"writes of a key are refused": func(d *deployment) {
			d.measure(10,
				"AWS/DynamoDB WriteThrottleEvents TableName=map[Fn::If:[OwnTable map[Ref:Table] map[Ref:TableName]]]")
		},
		"reads of a key are refused": func(d *deployment) {
			d.measure(10,
				"AWS/DynamoDB ReadThrottleEvents TableName=map[Fn::If:[OwnTable map[Ref:Table] map[Ref:TableName]]]")
		},
	},
	"Conflicts": {"transactions meet": func(d *deployment) {
		d.measure(100, "AWS/DynamoDB TransactionConflict TableName=map[Fn::If:[OwnTable map[Ref:Table] "+
			"map[Ref:TableName]]]")
	}},
	"Throttles":          {"the account has no room": func(d *deployment) { d.measure(500, "AWS/Lambda Throttles") }},
	"RefusedCredentials": {"somebody guesses passwords": func(d *deployment) { d.answers("401", 300) }},
	"IteratorAgeNotifierFunction": {"events stay in the stream": func(d *deployment) {
		d.measure(90_000, "AWS/Lambda IteratorAge FunctionName=lamplighter-"+d.stage.Name+"-notifier")
	}},
	"IteratorAgeMailerFunction": {"mails stay in the stream": func(d *deployment) {
		d.measure(90_000, "AWS/Lambda IteratorAge FunctionName=lamplighter-"+d.stage.Name+"-mailer")
	}},
}

// after returns the alarms that are raised after a quarter of an hour of happens, besides the usual healthy activity.
func (d *deployment) after(happens func(*deployment)) string {
	d.t.Helper()
	d.points = points{}
	for d.minute = range 15 {
		if d.minute%5 == 0 {
			d.healthy()
			for range int(d.stage.Errors) { // a stage may tolerate single faults
				happens(d)
			}
		}
	}
	var out []string
	for _, id := range slices.Sorted(maps.Keys(d.alarms)) {
		a := d.alarms[id]
		if a.raised(d.t, d.points, 15) {
			out = append(out, id)
		}
	}
	return strings.Join(out, " ")
}

func TestAlarms_TellOfEachFaultAndOfNothingElse(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	for _, s := range stages {
		d := deploy(t, s)
		if got := d.after(func(*deployment) {}); got != "" {
			t.Errorf("%s: all goes well, and %s are raised", s.Name, got)
		}
		for id := range d.alarms {
			if faults[id] == nil {
				t.Errorf("%s: no fault raises the alarm %s", s.Name, id)
			}
		}
		for id, ways := range faults {
			want := id
			if _, ok := d.alarms[id]; !ok && !s.Wide {
				want = "" // small stages do without
			}
			for name, happens := range ways {
				if got := d.after(happens); got != want {
					t.Errorf("%s: %s: %q are raised, want %q", s.Name, name, got, want)
				}
			}
		}
	}
}
