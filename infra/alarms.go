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

// signal is a condition that operators of large stages are told about: a figure is at its threshold or above it for
// some consecutive periods of five minutes. template.yaml has the alarms of every stage, and tells what alarms cost.
type signal struct {
	id        string
	tells     string // the event, and the operator's next step
	figure    figure
	threshold float64
	periods   float64
}

// signals returns the signals of large stages. template.yaml has the alarms of every stage. Each service's developer
// guide describes its metrics under "metrics". An authorizer that is refused shows in the alarm Refused: API Gateway
// answers 500.
func (v *service) signals(s Stage) []signal {
	out := []signal{
		{
			id: "Conflicts", figure: v.ofTable("TransactionConflict"), threshold: 100,
			tells: "Transactions meet on the same items: find the key that is contended for",
		},
		{
			id:        "Throttles",
			figure:    figure{Space: "AWS/Lambda", Name: "Throttles", Statistic: "Sum", Label: "throttles"},
			threshold: 100, periods: 3,
			tells: "Functions of the account are refused for a quarter of an hour: work waits at its caps, or the " +
				"quota of concurrent executions is used up",
		},
	}
	for _, f := range v.functions {
		if v.readsStream(f) && f.folder != codesReader {
			out = append(out, signal{
				id: "IteratorAge" + *f.Node().Id(), threshold: 60_000,
				figure: ofFunction(s, f.folder, "IteratorAge", "Maximum"),
				tells:  "The table's stream is read more than a minute late: what it brings fails, or is too much",
			})
		}
	}
	return out
}

// codesReader is the function that mails codes. People wait for those codes in front of a screen, so that every stage
// has an alarm about it.
const codesReader = "mailer"

// readsStream reports whether a stream of the table calls the function.
func (v *service) readsStream(f function) bool {
	return slices.ContainsFunc(v.mappings, func(m awslambda.CfnEventSourceMapping) bool {
		return strings.Contains(fmt.Sprint(v.Resolve(m.FunctionName())), "${"+*f.Node().Id()+".Alias}")
	})
}

// addAlarms adds the alarms of large stages, and subscribes the stage's operators to all alarms.
func (v *service) addAlarms(s Stage) {
	topic := awssns.Topic_FromTopicArn(v.Stack, jsii.String("AlarmsTopic"),
		v.template.GetResource(jsii.String("Alarms")).Ref())
	v.subscribe(topic, s)
	if !s.Wide {
		return
	}
	for _, sig := range v.signals(s) {
		v.alarm(sig).AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
	}
}

// subscribe subscribes the stage's operators to the topic, besides those of the parameters OperatorMail and
// OperatorHook. A stage without operators deploys with a warning each time.
func (v *service) subscribe(topic awssns.ITopic, s Stage) {
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
		Metric: sig.figure.metric(), Threshold: jsii.Number(sig.threshold),
		EvaluationPeriods:  jsii.Number(max(1, sig.periods)),
		AlarmDescription:   jsii.String(sig.tells),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}
