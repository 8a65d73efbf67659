package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"
)

// figure is a CloudWatch metric of one thing. Of is its dimension, and Value the dimension's value. Some figures have
// no dimension.
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

// lamplighter returns a metric of the metric filters.
func lamplighter(name, statistic string) figure {
	return figure{Space: "Lamplighter", Name: name, Statistic: statistic, Label: name}
}

// measured returns a metric that functions write in their log lines (shared/api/platform/metrics.go), summed over the
// stage.
func measured(s Stage, name string) figure {
	return figure{"Lamplighter", name, "stage", jsii.String(s.Name), "Sum", name}
}

// requests returns a metric of the API.
func (v *service) requests(s Stage, name, statistic string) figure {
	return figure{
		"AWS/ApiGateway", name, "ApiName", jsii.String("lamplighter-" + s.Name), statistic,
		name + " " + statistic,
	}
}

// ofTable returns a metric of the table: the stack's own table, or the one in the parameter TableName.
func (v *service) ofTable(name string) figure {
	own := v.template.GetCondition(jsii.String("OwnTable"))
	table := awscdk.Fn_ConditionIf(own.LogicalId(), v.template.GetResource(jsii.String("Table")).Ref(),
		v.template.GetParameter(jsii.String("TableName")).ValueAsString())
	return figure{"AWS/DynamoDB", name, "TableName", awscdk.Token_AsString(table, nil), "Sum", name}
}

// ofFunction returns a metric of the function of a folder. The function's name is fixed, so an alarm waits for no
// nested stack.
func ofFunction(s Stage, folder, name, statistic string) figure {
	return figure{
		"AWS/Lambda", name, "FunctionName", jsii.String("lamplighter-" + s.Name + "-" + folder), statistic,
		folder + " " + name,
	}
}

// visible returns the number of visible messages in the queue with an id of the template.
func (v *service) visible(id string) figure {
	queue := v.template.GetResource(jsii.String(id))
	name := awscdk.Token_AsString(queue.GetAtt(jsii.String("QueueName"), awscdk.ResolutionTypeHint_STRING), nil)
	return figure{"AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", name, "Maximum", id}
}
