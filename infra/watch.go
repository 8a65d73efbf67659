package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"
)

// figure is a CloudWatch metric of one thing: Value is what the dimension Of has. Some have no dimension.
type figure struct {
	Space, Name, Of string
	Value           *string
	Statistic       string
	Label           string
}

// metric returns the figure over five minutes.
func (f figure) metric() awscloudwatch.Metric {
	p := &awscloudwatch.MetricProps{
		Namespace: jsii.String(f.Space), MetricName: jsii.String(f.Name), Statistic: jsii.String(f.Statistic),
		Period: awscdk.Duration_Minutes(jsii.Number(5)),
	}
	if f.Of != "" {
		p.DimensionsMap = &map[string]*string{f.Of: f.Value}
	}
	return awscloudwatch.NewMetric(p)
}

// labelled returns the metric as a graph names it; an alarm takes it without a label.
func (f figure) labelled() awscloudwatch.IMetric {
	return f.metric().With(&awscloudwatch.MetricOptions{Label: jsii.String(f.Label)})
}

// graph is one picture of the dashboard.
type graph struct {
	title   string
	figures []figure
}

// addAlarms raises an alarm on what an operator must look at, and draws the rest on a dashboard.
func (v *service) addAlarms(s Stage) {
	topic := awssns.NewTopic(v.Stack, jsii.String("Alarms"), &awssns.TopicProps{
		DisplayName: jsii.String("Lamplighter " + s.Name), EnforceSSL: jsii.Bool(true),
	})
	errors, executions := v.errors(), v.executions()
	refused := figure{"AWS/ApiGateway", "5XXError", "ApiName", jsii.String("lamplighter-" + s.Name), "Sum", "Api"}
	letters := figure{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", v.queueName(), "Maximum", "DeadLetters"}
	logged := figure{Space: "Lamplighter", Name: "errors-" + s.Name, Statistic: "Sum", Label: "LoggedErrors"}
	for _, f := range append(append(errors, executions...), refused, logged) {
		v.alarm(topic, f, s.Errors)
	}
	v.alarm(topic, letters, 1)
	v.dashboard(s, append(v.traffic(refused),
		graph{"Function errors", errors}, graph{"Executions failed", executions}, graph{"Dead letters", []figure{letters}}, graph{"Errors in the log", []figure{logged}}))
}

// errors counts the failed invocations of each function.
func (v *service) errors() []figure {
	var fs []figure
	for _, f := range v.functions {
		fs = append(fs, figure{"AWS/Lambda", "Errors", "FunctionName", f.Ref(), "Sum", *f.Node().Id()})
	}
	return fs
}

// executions counts the failed executions of each state machine.
func (v *service) executions() []figure {
	var fs []figure
	for _, m := range v.machines {
		fs = append(fs, figure{"AWS/States", "ExecutionsFailed", "StateMachineArn", m.Ref(), "Sum", *m.Node().Id()})
	}
	return fs
}

// traffic shows what is asked, how long answers take and what the table is used for.
func (v *service) traffic(refused figure) []graph {
	count, p50, p99 := refused, refused, refused
	count.Name, count.Label = "Count", "requests"
	p50.Name, p50.Statistic, p50.Label = "Latency", "p50", "p50"
	p99.Name, p99.Statistic, p99.Label = "Latency", "p99", "p99"
	table := v.template.GetResource(jsii.String("Table")).Ref()
	return []graph{
		{"Requests", []figure{count, refused}},
		{"Latency", []figure{p50, p99}},
		{"Table", []figure{
			{"AWS/DynamoDB", "ConsumedReadCapacityUnits", "TableName", table, "Sum", "read units"},
			{"AWS/DynamoDB", "ConsumedWriteCapacityUnits", "TableName", table, "Sum", "write units"},
		}},
	}
}

func (v *service) queueName() *string {
	queue := v.template.GetResource(jsii.String("DeadLetters"))
	return awscdk.Token_AsString(queue.GetAtt(jsii.String("QueueName"), awscdk.ResolutionTypeHint_STRING), nil)
}

// alarm tells topic when f reaches threshold in five minutes; silence is health.
func (v *service) alarm(topic awssns.ITopic, f figure, threshold float64) {
	awscloudwatch.NewAlarm(v.Stack, jsii.String(f.Label+"Alarm"), &awscloudwatch.AlarmProps{
		Metric: f.metric(), Threshold: jsii.Number(threshold), EvaluationPeriods: jsii.Number(1),
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		TreatMissingData:   awscloudwatch.TreatMissingData_NOT_BREACHING,
	}).AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
}

func (v *service) dashboard(s Stage, graphs []graph) {
	board := awscloudwatch.NewDashboard(v.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String("lamplighter-" + s.Name),
	})
	for _, g := range graphs {
		var metrics []awscloudwatch.IMetric
		for _, f := range g.figures {
			metrics = append(metrics, f.labelled())
		}
		board.AddWidgets(awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
			Title: jsii.String(g.title), Left: &metrics, Width: jsii.Number(12),
		}))
	}
}
