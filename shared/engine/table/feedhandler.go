package table

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
)

// FeedFailure is an item of the change feed that a worker could not take, and the error. The item stays in the outbox.
type FeedFailure struct {
	Key
	Err error
}

// FeedWorker works on the items of the change feed.
type FeedWorker interface {
	// Deliver takes new items and returns those that the feed must bring again.
	Deliver(ctx context.Context, items []Item) []FeedFailure
	// Round retries items that are due. A schedule calls it each minute.
	Round(ctx context.Context) error
}

// FeedHandler returns the Lambda handler of a worker. An event of the table's stream goes to Deliver, and the answer
// names the records that Lambda must bring again. Any other event is the schedule's and goes to Round.
func FeedHandler(w FeedWorker, log *slog.Logger) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, input json.RawMessage) (any, error) {
		var e events.DynamoDBEvent
		if err := json.Unmarshal(input, &e); err != nil {
			return nil, fmt.Errorf("read the event: %w", err)
		}
		if len(e.Records) == 0 {
			return nil, w.Round(ctx)
		}
		items, err := FeedItems(e)
		if err != nil {
			return nil, err
		}
		return ReportFailures(e, failedKeys(ctx, w.Deliver(ctx, items), log)...), nil
	}
}

// failedKeys logs each failure and returns the keys of the items.
func failedKeys(ctx context.Context, failures []FeedFailure, log *slog.Logger) []Key {
	var keys []Key
	for _, f := range failures {
		log.WarnContext(ctx, "an item of the change feed is brought again", "partition", f.PK, "item", f.SK,
			"error", f.Err.Error())
		keys = append(keys, f.Key)
	}
	return keys
}
