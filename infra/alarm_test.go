package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
	"gopkg.in/yaml.v3"

	"lamplighter.dev/infra/stacks"
)

// stack is the part of the synthesized templates that these tests read.
type stack struct {
	templates map[string][]byte // of the root under "", of the nested stacks under their ids
	Resources map[string]synthesizedResource
}

type synthesizedResource struct {
	Type       string
	Properties json.RawMessage
}

// synthesized returns the stacks of a stage. They are made once.
func synthesized(t *testing.T, s Stage) stack {
	t.Helper()
	if out, ok := made[s.Name]; ok {
		return out
	}
	made[s.Name] = synthesizeStage(t, s)
	return made[s.Name]
}

var made = map[string]stack{}

// synthesizeStage makes the stacks of a stage.
func synthesizeStage(t *testing.T, s Stage) stack {
	t.Helper()
	root := NewService(awscdk.NewApp(nil), checkout(t), s)
	out := stack{templates: map[string][]byte{}, Resources: map[string]synthesizedResource{}}
	out.add(t, "", root)
	for id, n := range nestedIn(root) {
		out.add(t, id, n)
	}
	return out
}

// add reads the template of a stack.
func (s stack) add(t *testing.T, id string, of awscdk.Stack) {
	t.Helper()
	text, err := json.Marshal(assertions.Template_FromStack(of, nil).ToJSON())
	if err != nil {
		t.Fatal(err)
	}
	var doc stack
	if err = json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	s.templates[id] = text
	maps.Copy(s.Resources, doc.Resources)
}

// nestedIn returns the nested stacks of a stack, by their ids in template.yaml.
func nestedIn(root awscdk.Stack) map[string]awscdk.Stack {
	out := map[string]awscdk.Stack{}
	for _, c := range *root.Node().FindAll(constructs.ConstructOrder_PREORDER) {
		if n, ok := c.(awscdk.NestedStack); ok {
			out[*n.Node().Id()] = n
		}
	}
	return out
}

// resources returns the properties of all resources of a type, by their ids without CDK's hash.
func resources[T any](t *testing.T, s stack, kind string) map[string]T {
	t.Helper()
	out := map[string]T{}
	for id, r := range s.Resources {
		if r.Type != kind {
			continue
		}
		var v T
		if err := json.Unmarshal(r.Properties, &v); err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if i := strings.LastIndex(id, "Alarm"); i > 0 {
			id = id[:i]
		}
		out[id] = v
	}
	return out
}

// alarm is an alarm in CloudFormation's form.
type alarm struct {
	cloudwatchMetric
	Metrics            []alarmMetric
	EvaluationPeriods  int
	DatapointsToAlarm  int
	ComparisonOperator string
	Threshold          threshold
	TreatMissingData   string
	AlarmActions       []any
	AlarmDescription   string
}

type cloudwatchMetric struct {
	Namespace  string
	MetricName any
	Dimensions []struct{ Name, Value any }
	Statistic  string
	Period     int
}

// threshold is a number, or a parameter by its default.
type threshold float64

// UnmarshalJSON reads a number, or {"Ref": parameter}.
func (t *threshold) UnmarshalJSON(b []byte) error {
	var of struct{ Ref string }
	if json.Unmarshal(b, &of) != nil || of.Ref == "" {
		return json.Unmarshal(b, (*float64)(t))
	}
	text, err := os.ReadFile("../" + stacks.Root)
	if err != nil {
		return err
	}
	var doc struct {
		Parameters map[string]struct {
			Default any `yaml:"Default"`
		} `yaml:"Parameters"`
	}
	if err = yaml.Unmarshal(text, &doc); err != nil {
		return err
	}
	n, ok := doc.Parameters[of.Ref].Default.(int)
	if !ok {
		return fmt.Errorf("the parameter %s has no number as its default", of.Ref)
	}
	*t = threshold(n)
	return nil
}

type alarmMetric struct {
	ID         string `json:"Id"`
	Expression string
	ReturnData bool
	MetricStat *struct {
		Metric cloudwatchMetric
		Period int
		Stat   string
	}
}

// key names a metric: "AWS/SQS ApproximateNumberOfMessagesVisible QueueName=${DeadLetters.QueueName}".
func (m cloudwatchMetric) key() string {
	out := []string{m.Namespace, literal(m.MetricName)}
	for _, d := range m.Dimensions {
		out = append(out, fmt.Sprintf("%v=%s", d.Name, literal(d.Value)))
	}
	return strings.Join(out, " ")
}

// points are measured values, by metric and by minute.
type points map[string]map[int][]float64

// statistic returns a metric over the minutes before end, and false if there are no points.
func (p points) statistic(t *testing.T, key, statistic string, end, minutes int) (float64, bool) {
	t.Helper()
	var vs []float64
	for m := end - minutes; m < end; m++ {
		vs = append(vs, p[key][m]...)
	}
	if len(vs) == 0 {
		return 0, false
	}
	switch statistic {
	case "Sum":
		sum := 0.0
		for _, v := range vs {
			sum += v
		}
		return sum, true
	case "Maximum":
		return slices.Max(vs), true
	}
	t.Fatalf("an alarm is about the statistic %q", statistic)
	return 0, false
}

// raised reports whether the alarm is in the state ALARM at a minute: enough of its periods breach (CloudWatch user
// guide, "Alarm evaluation").
func (a *alarm) raised(t *testing.T, p points, minute int) bool {
	t.Helper()
	if a.TreatMissingData != "notBreaching" || a.ComparisonOperator != "GreaterThanOrEqualToThreshold" {
		t.Fatalf("an alarm treats missing data as %s and compares by %s", a.TreatMissingData, a.ComparisonOperator)
	}
	breaching := 0
	for i := range a.EvaluationPeriods {
		v, ok := a.value(t, p, minute-i*5)
		if ok && v >= float64(a.Threshold) {
			breaching++
		}
	}
	return breaching >= max(a.DatapointsToAlarm, 1) && (a.DatapointsToAlarm > 0 || breaching == a.EvaluationPeriods)
}

// value returns the value that the alarm compares with its threshold, over the five minutes before a minute.
func (a *alarm) value(t *testing.T, p points, end int) (float64, bool) {
	t.Helper()
	if len(a.Metrics) == 0 {
		return p.statistic(t, a.key(), a.Statistic, end, a.Period/60)
	}
	sum, some, expression := 0.0, false, ""
	var terms []string
	for _, m := range a.Metrics {
		if m.MetricStat == nil {
			expression = m.Expression
			continue
		}
		v, ok := p.statistic(t, m.MetricStat.Metric.key(), m.MetricStat.Stat, end, m.MetricStat.Period/60)
		sum, some = sum+v, some || ok
		terms = append(terms, "FILL("+m.ID+",0)")
	}
	// FILL makes missing points 0; this test understands no other expression
	if expression != strings.Join(terms, "+") {
		t.Fatalf("an alarm is about %s, which this test cannot evaluate", expression)
	}
	return sum, some
}

func TestAlarms_StayWithinWhatIsFree(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	for _, s := range stages {
		figures := 0
		alarms := resources[alarm](t, synthesized(t, s), "AWS::CloudWatch::Alarm")
		for id, a := range alarms {
			if len(a.AlarmActions) == 0 || a.AlarmDescription == "" {
				t.Errorf("%s: the alarm %s tells nobody, or not what to do: %v %q", s.Name, id, a.AlarmActions,
					a.AlarmDescription)
			}
			for _, m := range a.Metrics {
				if m.MetricStat != nil {
					figures++
				}
			}
			if len(a.Metrics) == 0 {
				figures++
			}
		}
		most := 10 // are free in an account; each more is $0.10 a month
		if s.Wide {
			most = 13
		}
		if t.Logf("%s: %d alarms of %d metrics", s.Name, len(alarms), figures); figures > most {
			t.Errorf("%s has alarms of %d metrics, where %d are wanted", s.Name, figures, most)
		}
	}
}

func TestAlarms_TellWhoIsNamed(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	s := stages[0]
	s.Operators = []string{"ops@example.com", "https://hook.example.com/x"}
	type subscription struct{ Protocol, Endpoint any }
	var got []subscription
	for id, v := range resources[subscription](t, synthesizeStage(t, s), "AWS::SNS::Subscription") {
		if !strings.HasPrefix(id, "OperatorsBy") { // by parameters, on their conditions
			got = append(got, v)
		}
	}
	for _, want := range []subscription{{"email", "ops@example.com"}, {"https", "https://hook.example.com/x"}} {
		if !slices.Contains(got, want) || len(got) != 2 {
			t.Errorf("the subscriptions are %v, which lack %v", got, want)
		}
	}
	nobody := NewService(awscdk.NewApp(nil), checkout(t), stages[0])
	assertions.Annotations_FromStack(nobody).HasWarning(jsii.String("*"),
		assertions.Match_StringLikeRegexp(jsii.String("nobody is told of the alarms of dev")))
}
