package main

import (
	"fmt"

	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// graph is a graph of the dashboard.
type graph struct {
	title string
	lines []awscloudwatch.IMetric
}

// addDashboard draws requests, latencies, usage of the table and errors. The graphs search for the metrics of each
// function and machine. Three dashboards of up to 50 metrics are free in an account.
func (v *service) addDashboard(s Stage) {
	board := awscloudwatch.NewDashboard(v.Stack, jsii.String("Dashboard"), &awscloudwatch.DashboardProps{
		DashboardName: jsii.String("lamplighter-" + s.Name),
	})
	for _, g := range v.graphs(s) {
		board.AddWidgets(awscloudwatch.NewGraphWidget(&awscloudwatch.GraphWidgetProps{
			Title: jsii.String(g.title), Left: &g.lines, Width: jsii.Number(12),
		}))
	}
}

func (v *service) graphs(s Stage) []graph {
	return []graph{
		{"Requests", labelled(
			v.requests(s, "Count", "Sum"), v.requests(s, "4XXError", "Sum"), v.requests(s, "5XXError", "Sum"))},
		{"Latency", labelled(v.requests(s, "Latency", "p50"), v.requests(s, "Latency", "p99"))},
		{"Table", labelled(
			v.ofTable("ConsumedReadCapacityUnits"), v.ofTable("ConsumedWriteCapacityUnits"),
			v.ofTable("ReadThrottleEvents"),
			v.ofTable("WriteThrottleEvents"), v.ofTable("TransactionConflict"))},
		{"Function errors", found("AWS/Lambda,FunctionName", s, "Errors", "Sum")},
		{"Concurrent executions", found("AWS/Lambda,FunctionName", s, "ConcurrentExecutions", "Maximum")},
		{"Longest invocation", found("AWS/Lambda,FunctionName", s, "Duration", "Maximum")},
		{"Executions", append(
			found("AWS/States,StateMachineArn", s, "ExecutionsStarted", "Sum"),
			found("AWS/States,StateMachineArn", s, "ExecutionsFailed", "Sum")...)},
		{"Pending work", labelled(
			lamplighter("oldestPendingSeconds-"+s.Name, "Maximum"), lamplighter("parkedWork-"+s.Name, "Sum"))},
		{"Queues", labelled(v.visible("DeadLetters"), v.visible("StoppedExecutions"))},
		{"Refused credentials", labelled(
			measured(s, "refusedLogIns"), measured(s, "refusedCodes"), measured(s, "refusedTokens"))},
		{"Log", labelled(lamplighter("errors-"+s.Name, "Sum"), lamplighter("limits-"+s.Name, "Sum"))},
		{"Refused credentials", labelled(lamplighter("refusedCredentials-"+s.Name, "Sum"))},
	}
}

// labelled returns the figures with their labels in a graph.
func labelled(fs ...figure) []awscloudwatch.IMetric {
	var out []awscloudwatch.IMetric
	for _, f := range fs {
		out = append(out, f.metric().With(&awscloudwatch.MetricOptions{Label: jsii.String(f.Label)}))
	}
	return out
}

// found returns a search for a metric of all functions, or all machines, of the stage.
func found(schema string, s Stage, name, statistic string) []awscloudwatch.IMetric {
	return []awscloudwatch.IMetric{awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: jsii.String(fmt.Sprintf(`SEARCH('{%s} MetricName="%s" "lamplighter-%s"', '%s', 300)`, schema,
			name, s.Name, statistic)),
		UsingMetrics: &map[string]awscloudwatch.IMetric{}, Label: jsii.String(""),
	})}
}
