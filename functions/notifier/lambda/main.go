// Command notifier tells people and programs of what the table's stream brings, and, each minute, tries again what could not be delivered.
package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/notifier"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(notifier.Declaration)
	e := notifier.New(p, notifier.Everybody(p))
	lambda.Start(workflow.LambdaHandler(p.Logged(func(ctx context.Context, input json.RawMessage) (any, error) {
		var brought events.DynamoDBEvent
		if err := json.Unmarshal(input, &brought); err != nil {
			return nil, fmt.Errorf("read the event: %w", err)
		}
		if len(brought.Records) == 0 { // the schedule's
			return nil, e.Round(ctx)
		}
		return deliver(ctx, p, e.Engine, brought)
	})))
}

// deliver hands the rows of an event to the engine, and tells Lambda which to bring again.
func deliver(ctx context.Context, p *platform.Platform, e *delivery.Engine, brought events.DynamoDBEvent) (any, error) {
	items, err := table.FeedItems(brought)
	if err != nil {
		return nil, err
	}
	var again []table.Key
	for _, f := range e.Deliver(ctx, items) {
		p.Log.WarnContext(ctx, "an event could not be taken and is brought again", "partition", f.PK, "event", f.SK,
			"error", f.Err.Error())
		again = append(again, f.Key)
	}
	return table.ReportFailures(brought, again...), nil
}
