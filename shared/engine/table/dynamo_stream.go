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

// FeedItems returns the outbox items of a stream event, oldest first. The event source should filter by the suffix of
// the partition key. FeedItems leaves out all other items.
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

// ReportFailures returns the response to a stream event that makes Lambda deliver the failed items again, with all
// items after the first of them. The event source must have ReportBatchItemFailures.
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

// eventItem decodes an item of a Lambda event.
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

// eventValue converts a value of a Lambda event to the SDK's format.
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
		return convertList(v.List(), eventValue)
	case events.DataTypeMap:
		return convertMap(v.Map(), eventValue)
	default:
		return nil, fault.New(fault.Internal, "a value of kind %d has no JSON", v.DataType())
	}
}

// streamValue converts a value of the stream to the table client's format.
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
		return convertList(x.Value, streamValue)
	case *streamtypes.AttributeValueMemberM:
		return convertMap(x.Value, streamValue)
	default:
		return nil, fault.New(fault.Internal, "a value of kind %T has no JSON", v)
	}
}

// convertList converts a list.
func convertList[V any](l []V, convert func(V) (types.AttributeValue, error)) (types.AttributeValue, error) {
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

// convertMap converts a map.
func convertMap[V any](m map[string]V, convert func(V) (types.AttributeValue, error)) (*types.AttributeValueMemberM,
	error,
) {
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

// Feed reads the table's stream, for processes outside Lambda. It is meant for one reader of a table with few shards.
// In AWS the stream is a function's event source instead.
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

// readStream continues reading the stream after the cursor.
func (d *DynamoDB) readStream(ctx context.Context, streams *dynamodbstreams.Client, cursor string, limit int) (Feed,
	error,
) {
	r := reader{streams: streams, d: d, limit: limit}
	if err := r.readCursor(cursor); err != nil {
		return Feed{}, err
	}
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	if err := r.readShards(ctx); err != nil {
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
	at      map[string]string // last sequence number read from each shard, or shardEnded
	limit   int
	items   []Item
}

// shardEnded replaces the sequence number of a shard that was read to its end.
const shardEnded = "end"

// readCursor parses the cursor.
func (r *reader) readCursor(cursor string) error {
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

// readShards reads from all shards, up to the limit.
func (r *reader) readShards(ctx context.Context) error {
	shards, err := r.listShards(ctx)
	if err != nil {
		return err
	}
	kept := make(map[string]string, len(shards))
	for i := range shards {
		id := *shards[i].ShardId
		parent := aws.ToString(shards[i].ParentShardId)
		open := hasShard(shards, parent) && r.at[parent] != shardEnded
		if r.at[id] != shardEnded && !open && len(r.items) < r.limit {
			if err := r.readShard(ctx, id); err != nil {
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

// hasShard reports whether the shard still exists.
func hasShard(shards []streamtypes.Shard, id string) bool {
	for i := range shards {
		if *shards[i].ShardId == id {
			return true
		}
	}
	return false
}

// listShards lists the stream's shards, which the service sorts parents first.
func (r *reader) listShards(ctx context.Context) ([]streamtypes.Shard, error) {
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

// emptyReads is the number of consecutive empty responses that end the reading of an open shard. The service may return
// some between records.
const emptyReads = 2

// readShard continues reading one shard.
func (r *reader) readShard(ctx context.Context, id string) error {
	it, err := r.shardIterator(ctx, id)
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
		if all, err = r.addRecords(id, out.Records); err == nil && all && it == nil {
			r.at[id] = shardEnded
		}
	}
	return err
}

// shardIterator returns an iterator after the last read record, or at the oldest one if that no longer exists.
func (r *reader) shardIterator(ctx context.Context, id string) (*string, error) {
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
		return r.shardIterator(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	return out.ShardIterator, nil
}

// addRecords adds the outbox items of records, and reports whether it added all of them.
func (r *reader) addRecords(shard string, records []streamtypes.Record) (bool, error) {
	for i := range records {
		if len(r.items) >= r.limit {
			return false, nil
		}
		c := records[i].Dynamodb
		if s, ok := c.NewImage[pkAttr].(*streamtypes.AttributeValueMemberS); ok && isOutbox(s.Value) {
			m, err := convertMap(c.NewImage, streamValue)
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
