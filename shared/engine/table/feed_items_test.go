package table_test

import (
	"encoding/json"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/engine/table"
)

// streamEvent is an event of Lambda: two puts into an outbox, one elsewhere, one removal.
const streamEvent = `{"Records":[
 {"eventID":"1","eventName":"INSERT","dynamodb":{"Keys":{"pk":{"S":"ORG#a#EVENTS"},"sk":{"S":"e1"}},
  "NewImage":{"pk":{"S":"ORG#a#EVENTS"},"sk":{"S":"e1"},"expires":{"N":"1800000000"},"_pk":{"S":"mine"},
   "n":{"N":"12345678901234567890123456789012345678"},"l":{"L":[{"BOOL":true},{"NULL":true},` +
	`{"M":{"x":{"N":"1.5"}}}]}}}},
 {"eventID":"2","eventName":"INSERT","dynamodb":{"NewImage":{"pk":{"S":"ORG#a#RES"},"sk":{"S":"r"}}}},
 {"eventID":"3","eventName":"REMOVE","dynamodb":{"OldImage":{"pk":{"S":"ORG#a#EVENTS"},"sk":{"S":"e0"}}}},
 {"eventID":"4","eventName":"INSERT","dynamodb":{"NewImage":{"pk":{"S":"MAIL#EVENTS"},"sk":{"S":"m1"}}}}]}`

func TestFeedItemsOfALambdaEvent(t *testing.T) {
	var e events.DynamoDBEvent
	if err := json.Unmarshal([]byte(streamEvent), &e); err != nil {
		t.Fatal(err)
	}
	items, err := table.FeedItems(e)
	if err != nil || len(items) != 2 {
		t.Fatalf("%d items, %v; want 2", len(items), err)
	}
	want := `{"l":[true,null,{"x":1.5}],"n":12345678901234567890123456789012345678,"pk":"mine"}`
	if it := items[0]; it.PK != "ORG#a#EVENTS" || it.SK != "e1" || string(it.Data) != want ||
		it.Expires.Unix() != 1_800_000_000 {
		t.Errorf("the first item is %+v %s, want %s", it.Key, it.Data, want)
	}
	if it := items[1]; it.PK != "MAIL#EVENTS" || string(it.Data) != `{}` {
		t.Errorf("the second item is %+v %s", it.Key, it.Data)
	}
}

// Lambda identifies failed records by their sequence number.
func TestReportFailures_NamesTheRecordsOfTheKeys(t *testing.T) {
	var e events.DynamoDBEvent
	if err := json.Unmarshal([]byte(`{"Records":[
 {"dynamodb":{"SequenceNumber":"111","NewImage":{"pk":{"S":"MAIL#EVENTS"},"sk":{"S":"m1"}}}},
 {"dynamodb":{"SequenceNumber":"112","OldImage":{"pk":{"S":"MAIL#EVENTS"},"sk":{"S":"m2"}}}},
 {"dynamodb":{"SequenceNumber":"113","NewImage":{"pk":{"S":"MAIL#EVENTS"},"sk":{"S":"m2"}}}}]}`), &e); err != nil {
		t.Fatal(err)
	}
	for want, failed := range map[string][]table.Key{
		`{"batchItemFailures":null}`:                       nil,
		`{"batchItemFailures":[{"itemIdentifier":"113"}]}`: {{PK: "MAIL#EVENTS", SK: "m2"}},
	} {
		got, err := json.Marshal(table.ReportFailures(e, failed...))
		if err != nil || string(got) != want {
			t.Errorf("%v: %s, %v; want %s", failed, got, err, want)
		}
	}
}
