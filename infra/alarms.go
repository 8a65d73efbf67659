package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssnssubscriptions"
	"github.com/aws/jsii-runtime-go"
)

// signal is a condition that operators are told about: a figure, or the sum of several, is at its threshold or above
// it for some consecutive periods of five minutes. CloudWatch takes $0.10 a month for each figure of an alarm, and
// ten of an account are free (aws.amazon.com/cloudwatch/pricing, 2026-11). Therefore a signal is about all functions,
// or all machines, at once.
type signal struct {
	id        string
	tells     string // the event, and the operator's next step
	figures   []figure
	threshold float64
	periods   float64
	wide      bool // only where Stage.Wide: small stages do without it
}

// signals returns the signals of the stage. Each service's developer guide describes its AWS metrics under "metrics";
// the metrics of the namespace Lamplighter come from the metric filters of template.yaml.
func (v *service) signals(s Stage) []signal {
	out := []signal{
		{
			id: "Errors", figures: []figure{lamplighter("errors-"+s.Name, "Sum")}, threshold: s.Errors,
			tells: "Invocations failed, or the log has lines of level ERROR: search it for them",
		},
		{
			id: "Refused", figures: []figure{v.requests(s, "5XXError", "Sum")}, threshold: s.Errors,
			tells: "Requests were answered 500: search the log for lines with a status of 500; without any, the " +
				"gateway found no function free or none in time",
		},
		{
			id: "DeadLetters", figures: []figure{v.visible("DeadLetters")}, threshold: 1,
			tells: "The queue of dead letters holds what a worker could not finish",
		},
		{
			id: "StoppedExecutions", figures: []figure{v.visible("StoppedExecutions")}, threshold: 1,
			tells: "State machines failed, ran out of time or were aborted: the queue tells which and why; purge it " +
				"when you have read it",
		},
		{
			id: "Defects", figures: []figure{lamplighter("defects-"+s.Name, "Sum")}, threshold: 1,
			tells: "Work is pending for longer than any machine may run, or was started again too often and is " +
				"parked, or a report did not add up and was answered 500: search the log for oldestPendingSeconds, " +
				"parked and unbalancedReports; start parked work by hand, and rebuild the costs of the organization " +
				"of a report",
		},
		{
			id: "NearLimits", figures: []figure{lamplighter("limits-"+s.Name, "Sum")}, threshold: s.Errors,
			tells: "Calls took four fifths of their time or nine tenths of their memory: search the log for late and " +
				"maxMemoryUsedMB, and give the function more",
		},
		{
			id: "TableThrottles", figures: []figure{v.ofTable("ReadThrottleEvents"), v.ofTable("WriteThrottleEvents")},
			threshold: 10,
			tells:     "The table refuses requests: a key has more than 3,000 reads or 1,000 writes a second",
		},
		{
			id: "Conflicts", figures: []figure{v.ofTable("TransactionConflict")}, threshold: 100,
			tells: "Transactions meet on the same items: find the key that is contended for",
		},
		{
			id:        "Throttles",
			figures:   []figure{{Space: "AWS/Lambda", Name: "Throttles", Statistic: "Sum", Label: "throttles"}},
			threshold: 100, periods: 3, wide: true,
			tells: "Functions of the account are refused for a quarter of an hour: work waits at its caps, or the " +
				"quota of concurrent executions is used up",
		},
		{
			id: "AuthorizerThrottles", figures: []figure{ofFunction(s, "authorizer", "Throttles", "Sum")},
			threshold: 1, wide: true,
			tells: "Requests find no authorizer free and are answered 500: reserve more for it",
		},
	}
	for _, f := range v.functions {
		if v.readsStream(f) {
			out = append(out, signal{
				// an account has ten alarms free
				id: "IteratorAge" + *f.Node().Id(), threshold: 60_000, wide: f.folder != codesReader,
				figures: []figure{ofFunction(s, f.folder, "IteratorAge", "Maximum")},
				tells:   "The table's stream is read more than a minute late: what it brings fails, or is too much",
			})
		}
	}
	return out
}

// codesReader is the function that mails codes. People wait for those codes in front of a screen.
const codesReader = "mailer"

// readsStream reports whether a stream of the table calls the function.
func (v *service) readsStream(f function) bool {
	return slices.ContainsFunc(v.mappings, func(m awslambda.CfnEventSourceMapping) bool {
		return strings.Contains(fmt.Sprint(v.Resolve(m.FunctionName())), "${"+*f.Node().Id()+".Alias}")
	})
}

// addAlarms adds an alarm for each signal of the stage, with notifications to the stage's operators. It returns the
// alarms by their signals' ids.
func (v *service) addAlarms(s Stage) map[string]awscloudwatch.Alarm {
	topic := awssns.NewTopic(v.Stack, jsii.String("Alarms"), &awssns.TopicProps{
		DisplayName: jsii.String("Lamplighter " + s.Name), EnforceSSL: jsii.Bool(true),
	})
	v.subscribe(topic, s)
	out := map[string]awscloudwatch.Alarm{}
	for _, sig := range v.signals(s) {
		if sig.wide && !s.Wide {
			continue
		}
		out[sig.id] = v.alarm(sig)
		out[sig.id].AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
	}
	return out
}

// subscribe subscribes the stage's operators to the topic. A stage without operators deploys with a warning each
// time.
func (v *service) subscribe(topic awssns.Topic, s Stage) {
	for _, address := range s.Operators {
		if strings.HasPrefix(address, "https://") {
			topic.AddSubscription(awssnssubscriptions.NewUrlSubscription(jsii.String(address), nil))
			continue
		}
		topic.AddSubscription(awssnssubscriptions.NewEmailSubscription(jsii.String(address), nil))
	}
	if len(s.Operators) == 0 {
		awscdk.Annotations_Of(v.Stack).AddWarningV2(jsii.String("lamplighter:operators"), jsii.String(fmt.Sprintf(
			"nobody is told of the alarms of %[1]s: deploy with -c operators:%[1]s=ops@example.com,https://…",
			s.Name)))
	}
}

// alarm makes the alarm of a signal. Missing data counts as healthy.
func (v *service) alarm(sig signal) awscloudwatch.Alarm {
	return awscloudwatch.NewAlarm(v.Stack, jsii.String(sig.id+"Alarm"), &awscloudwatch.AlarmProps{
		Metric: sum(sig.figures), Threshold: jsii.Number(sig.threshold),
		EvaluationPeriods:  jsii.Number(max(1, sig.periods)),
		AlarmDescription:   jsii.String(sig.tells),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

// sum returns a figure as a metric, or the sum of several. Most metrics of AWS have no points while there is no
// activity. FILL makes them 0, because a sum with a missing value is missing too.
func sum(fs []figure) awscloudwatch.IMetric {
	if len(fs) == 1 {
		return fs[0].metric()
	}
	using, terms := map[string]awscloudwatch.IMetric{}, []string{}
	for i, f := range fs {
		id := fmt.Sprintf("m%d", i)
		using[id] = f.metric()
		terms = append(terms, "FILL("+id+",0)")
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(strings.Join(terms, "+")), UsingMetrics: &using,
		Period: awscdk.Duration_Minutes(jsii.Number(5)),
	})
}
