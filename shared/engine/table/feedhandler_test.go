package table_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
)

// recordingWorker notes its calls and fails on the items of fails.
type recordingWorker struct {
	rounds    int
	delivered []string
	fails     string
}

func (w *recordingWorker) Round(context.Context) error { w.rounds++; return nil }

func (w *recordingWorker) Deliver(_ context.Context, items []table.Item) []table.FeedFailure {
	var failed []table.FeedFailure
	for _, it := range items {
		w.delivered = append(w.delivered, it.SK)
		if it.SK == w.fails {
			failed = append(failed, table.FeedFailure{Key: it.Key, Err: errors.New("the store is away")})
		}
	}
	return failed
}

func TestFeedHandler_DeliversStreamEventsAndRunsRounds(t *testing.T) {
	const stream = `{"Records":[
 {"eventName":"INSERT","dynamodb":{"SequenceNumber":"1","NewImage":{"pk":{"S":"MAIL#EVENTS"},"sk":{"S":"m1"}}}},
 {"eventName":"INSERT","dynamodb":{"SequenceNumber":"2","NewImage":{"pk":{"S":"MAIL#EVENTS"},"sk":{"S":"m2"}}}}]}`
	tests := []struct {
		name, event, fails string
		answer, log        string
		rounds, delivered  int
	}{
		{"a stream event is delivered", stream, "", `{"batchItemFailures":null}`, "", 0, 2},
		{
			"a failed item is brought again and logged", stream, "m2",
			`{"batchItemFailures":[{"itemIdentifier":"2"}]}`, "the store is away", 0, 2,
		},
		{"an event of the schedule runs a round", `{"source":"aws.scheduler"}`, "", "null", "", 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var log strings.Builder
			w := &recordingWorker{fails: tt.fails}
			handle := table.FeedHandler(w, slog.New(slog.NewTextHandler(&log, nil)))
			out, err := handle(t.Context(), json.RawMessage(tt.event))
			if err != nil {
				t.Fatal(err)
			}
			answer, err := json.Marshal(out)
			if err != nil || string(answer) != tt.answer || w.rounds != tt.rounds || len(w.delivered) != tt.delivered {
				t.Errorf("%s, %v; %d rounds, %v delivered", answer, err, w.rounds, w.delivered)
			}
			if !strings.Contains(log.String(), tt.log) {
				t.Errorf("the log is %q; want %q in it", log.String(), tt.log)
			}
		})
	}
	if _, err := table.FeedHandler(&recordingWorker{}, slog.Default())(t.Context(), json.RawMessage(`{`)); err == nil {
		t.Error("an event that is no JSON is taken")
	}
}
