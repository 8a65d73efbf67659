package table

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/dynamodbstreams"
	streamtypes "github.com/aws/aws-sdk-go-v2/service/dynamodbstreams/types"

	"lamplighter.dev/shared/foundation/fault"
)

// FeedItems returns the outbox items that a stream event brings to a function, oldest first. The event source should already
// be filtered by the suffix of the partition key; what it lets through besides is left out here.
func FeedItems(e events.DynamoDBEvent) ([]Item, error) {
	var items []Item
	for i := range e.Records {
		c := &e.Records[i].Change
		if len(c.NewImage) == 0 || !isOutbox(c.NewImage[pkAttr].String()) {
			continue
		}
		it, err := eventItem(c.NewImage)
		if err != nil {
			return nil, fault.Wrap("read stream event "+e.Records[i].EventID, err)
		}
		items = append(items, it)
	}
	return items, nil
}

// ReportFailures returns the answer to a stream event of whose items the failed ones are to be delivered again. The event source
// must ask for it (ReportBatchItemFailures). Lambda delivers all that follow the first of them again too.
func ReportFailures(e events.DynamoDBEvent, failed ...Key) events.DynamoDBEventResponse {
	var out events.DynamoDBEventResponse
	for i := range e.Records {
		c := &e.Records[i].Change
		if len(c.NewImage) > 0 &&
			slices.Contains(failed, Key{c.NewImage[pkAttr].String(), c.NewImage[skAttr].String()}) {
			out.BatchItemFailures = append(out.BatchItemFailures,
				events.DynamoDBBatchItemFailure{ItemIdentifier: c.SequenceNumber})
		}
	}
	return out
}

// eventItem returns an item of a Lambda event.
func eventItem(image map[string]events.DynamoDBAttributeValue) (Item, error) {
	as := make(attributes, len(image))
	for name, v := range image {
		a, err := eventValue(v)
		if err != nil {
			return Item{}, err
		}
		as[name] = a
	}
	return attributesItem(as)
}

// eventValue brings a value of a Lambda event into the SDK's shape.
func eventValue(v events.DynamoDBAttributeValue) (types.AttributeValue, error) {
	switch v.DataType() {
	case events.DataTypeString:
		return stringAttribute(v.String()), nil
	case events.DataTypeNumber:
		return &types.AttributeValueMemberN{Value: v.Number()}, nil
	case events.DataTypeBoolean:
		return &types.AttributeValueMemberBOOL{Value: v.Boolean()}, nil
	case events.DataTypeNull:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case events.DataTypeList:
		return each(v.List(), eventValue)
	case events.DataTypeMap:
		return eachOf(v.Map(), eventValue)
	default:
		return nil, fault.New(fault.Internal, "a value of kind %d has no JSON", v.DataType())
	}
}

// streamValue brings a value of the stream into the table client's shape.
func streamValue(v streamtypes.AttributeValue) (types.AttributeValue, error) {
	switch x := v.(type) {
	case *streamtypes.AttributeValueMemberS:
		return stringAttribute(x.Value), nil
	case *streamtypes.AttributeValueMemberN:
		return &types.AttributeValueMemberN{Value: x.Value}, nil
	case *streamtypes.AttributeValueMemberBOOL:
		return &types.AttributeValueMemberBOOL{Value: x.Value}, nil
	case *streamtypes.AttributeValueMemberNULL:
		return &types.AttributeValueMemberNULL{Value: true}, nil
	case *streamtypes.AttributeValueMemberL:
		return each(x.Value, streamValue)
	case *streamtypes.AttributeValueMemberM:
		return eachOf(x.Value, streamValue)
	default:
		return nil, fault.New(fault.Internal, "a value of kind %T has no JSON", v)
	}
}

// each converts a list.
func each[V any](l []V, convert func(V) (types.AttributeValue, error)) (types.AttributeValue, error) {
	out := make([]types.AttributeValue, len(l))
	for i, v := range l {
		a, err := convert(v)
		if err != nil {
			return nil, err
		}
		out[i] = a
	}
	return &types.AttributeValueMemberL{Value: out}, nil
}

// eachOf converts a map.
func eachOf[V any](m map[string]V, convert func(V) (types.AttributeValue, error)) (*types.AttributeValueMemberM,
	error) {
	out := make(attributes, len(m))
	for name, v := range m {
		a, err := convert(v)
		if err != nil {
			return nil, err
		}
		out[name] = a
	}
	return &types.AttributeValueMemberM{Value: out}, nil
}

// Feed reads the table's stream, for processes outside Lambda. It is meant for one reader of a table of few shards; in
// AWS the stream is a function's event source instead.
func (d *DynamoDB) Feed(ctx context.Context, cursor string, limit int) (Feed, error) {
	switch {
	case limit < 1 || limit > MaxPage:
		return Feed{}, fault.New(fault.Invalid, "the feed's limit is %d; 1 to %d are allowed", limit, MaxPage)
	case d.feed == nil:
		return Feed{}, fault.New(fault.Internal, "a function of Lambda reads no feed of %s: its event source hands "+
			"it the stream", d.table)
	}
	return d.feed(ctx, cursor, limit)
}

// readStream reads on in the stream behind the cursor.
func (d *DynamoDB) readStream(ctx context.Context, streams *dynamodbstreams.Client, cursor string, limit int) (Feed,
	error) {
	r := reader{streams: streams, d: d, limit: limit}
	if err := r.start(cursor); err != nil {
		return Feed{}, err
	}
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	if err := r.run(ctx); err != nil {
		return Feed{}, fault.Wrap("read the stream of "+d.table, classifyError(err))
	}
	next, err := json.Marshal(r.at)
	return Feed{Items: r.items, Next: base64.RawURLEncoding.EncodeToString(next)}, err
}

// reader reads a stream's shards, parents before children.
type reader struct {
	streams *dynamodbstreams.Client
	d       *DynamoDB
	arn     *string
	at      map[string]string // shard → the last sequence number that was read, or ended
	limit   int
	items   []Item
}

// shardEnded stands for the sequence number of a shard that is read to its end.
const shardEnded = "end"

// start reads the cursor.
func (r *reader) start(cursor string) error {
	r.at = map[string]string{}
	if cursor == "" {
		return nil
	}
	b, err := base64.RawURLEncoding.DecodeString(cursor)
	if err = errors.Join(err, json.Unmarshal(b, &r.at)); err != nil {
		return fault.NewWithCause(fault.Invalid, err, "the cursor %.40q is not one that the feed handed out", cursor)
	}
	return nil
}

// run reads what the shards have, up to the limit.
func (r *reader) run(ctx context.Context) error {
	shards, err := r.shards(ctx)
	if err != nil {
		return err
	}
	kept := make(map[string]string, len(shards))
	for i := range shards {
		id := *shards[i].ShardId
		parent := aws.ToString(shards[i].ParentShardId)
		open := hasShard(shards, parent) && r.at[parent] != shardEnded
		if r.at[id] != shardEnded && !open && len(r.items) < r.limit {
			if err := r.shard(ctx, id); err != nil {
				return err
			}
		}
		if at := r.at[id]; at != "" {
			kept[id] = at
		}
	}
	r.at = kept
	return nil
}

// hasShard reports whether the shard is still kept.
func hasShard(shards []streamtypes.Shard, id string) bool {
	for i := range shards {
		if *shards[i].ShardId == id {
			return true
		}
	}
	return false
}

// shards lists the stream's shards, which the service orders parents first.
func (r *reader) shards(ctx context.Context) ([]streamtypes.Shard, error) {
	var shards []streamtypes.Shard
	_, err := r.d.callWithRetry(ctx, false, func(ctx context.Context) error {
		meterOf(ctx).countTrips(1)
		out, err := r.d.db.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &r.d.table})
		if err != nil {
			return err
		}
		if r.arn = out.Table.LatestStreamArn; r.arn == nil {
			return fault.New(fault.Unavailable, "the table %s has no stream", r.d.table)
		}
		return nil
	})
	for in := (&dynamodbstreams.DescribeStreamInput{StreamArn: r.arn}); err == nil; {
		var out *dynamodbstreams.DescribeStreamOutput
		if _, err = r.d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
			out, err = r.streams.DescribeStream(ctx, in)
			return err
		}); err != nil {
			break
		}
		shards = append(shards, out.StreamDescription.Shards...)
		if in.ExclusiveStartShardId = out.StreamDescription.LastEvaluatedShardId; in.ExclusiveStartShardId == nil {
			break
		}
	}
	return shards, err
}

// emptyReads is how many empty answers in a row end the reading of an open shard: the service may give some in between.
const emptyReads = 2

// shard reads one shard on.
func (r *reader) shard(ctx context.Context, id string) error {
	it, err := r.iterator(ctx, id)
	for idle := 0; err == nil && it != nil && idle < emptyReads && len(r.items) < r.limit; {
		var out *dynamodbstreams.GetRecordsOutput
		_, err = r.d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
			out, err = r.streams.GetRecords(ctx, &dynamodbstreams.GetRecordsInput{ShardIterator: it})
			return err
		})
		if err != nil {
			break
		}
		if idle++; len(out.Records) > 0 {
			idle = 0
		}
		it = out.NextShardIterator
		var all bool
		if all, err = r.records(id, out.Records); err == nil && all && it == nil {
			r.at[id] = shardEnded
		}
	}
	return err
}

// iterator begins behind what was read, or with the oldest kept when that is gone.
func (r *reader) iterator(ctx context.Context, id string) (*string, error) {
	in := &dynamodbstreams.GetShardIteratorInput{
		StreamArn: r.arn, ShardId: &id, ShardIteratorType: streamtypes.ShardIteratorTypeTrimHorizon,
	}
	if at := r.at[id]; at != "" {
		in.SequenceNumber, in.ShardIteratorType = &at, streamtypes.ShardIteratorTypeAfterSequenceNumber
	}
	var out *dynamodbstreams.GetShardIteratorOutput
	_, err := r.d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
		out, err = r.streams.GetShardIterator(ctx, in)
		return err
	})
	if _, trimmed := errors.AsType[*streamtypes.TrimmedDataAccessException](err); trimmed && r.at[id] != "" {
		delete(r.at, id)
		return r.iterator(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// records takes the outbox items of records, and reports whether it took all.
func (r *reader) records(shard string, records []streamtypes.Record) (bool, error) {
	for i := range records {
		if len(r.items) >= r.limit {
			return false, nil
		}
		c := records[i].Dynamodb
		if s, ok := c.NewImage[pkAttr].(*streamtypes.AttributeValueMemberS); ok && isOutbox(s.Value) {
			m, err := eachOf(c.NewImage, streamValue)
			if err != nil {
				return false, err
			}
			it, err := attributesItem(m.Value)
			if err != nil {
				return false, err
			}
			r.items = append(r.items, it)
		}
		r.at[shard] = *c.SequenceNumber
	}
	return true, nil
}
