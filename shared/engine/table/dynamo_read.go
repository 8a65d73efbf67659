package table

import (
	"context"
	"maps"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/foundation/fault"
)

// parallel is the number of concurrent calls of a batch.
const parallel = 8

// consistency returns the consistency of a read: strong, unless ctx allows eventual.
func consistency(ctx context.Context) *bool { return aws.Bool(!IsEventual(ctx)) }

// unixNow returns the current time in Unix seconds, which decides whether items have expired.
func (d *DynamoDB) unixNow() int64 { return d.clock.Now().Unix() }

// Get reads one item.
func (d *DynamoDB) Get(ctx context.Context, k Key) (Item, error) {
	if err := checkKey(k); err != nil {
		return Item{}, err
	}
	var out *dynamodb.GetItemOutput
	_, err := d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
		meterOf(ctx).countTrips(1)
		out, err = d.db.GetItem(ctx, &dynamodb.GetItemInput{
			TableName: &d.table, Key: keyAttributes(k), ConsistentRead: consistency(ctx),
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		return err
	})
	if err != nil {
		return Item{}, fault.Wrap("get "+k.PK+" "+k.SK, classifyError(err))
	}
	meterOf(ctx).countRead(sumCapacity(out.ConsumedCapacity), k.PK)
	it, err := d.liveItem(out.Item)
	if err == nil && it.Data == nil {
		return Item{}, errNotFound(k)
	}
	return it, err
}

// sumCapacity returns the units that a call consumed.
func sumCapacity(cs ...*types.ConsumedCapacity) float64 {
	sum := 0.0
	for _, c := range cs {
		if c != nil && c.CapacityUnits != nil {
			sum += *c.CapacityUnits
		}
	}
	return sum
}

// liveItem decodes an item. Its Data is nil if it is absent or has expired.
func (d *DynamoDB) liveItem(as attributes) (Item, error) {
	if len(as) == 0 {
		return Item{}, nil
	}
	end, err := expiryOf(as)
	if err != nil || end != 0 && end <= d.unixNow() {
		return Item{}, err
	}
	return attributesItem(as)
}

// BatchGet reads many items.
func (d *DynamoDB) BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error) {
	keys, err := distinctKeys(keys)
	if err != nil || len(keys) == 0 {
		return map[Key]Item{}, err
	}
	parts := make([]map[Key]Item, (len(keys)+batchGet-1)/batchGet)
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i := range parts {
		g.Go(func() (err error) {
			parts[i], err = d.getPart(gctx, keys[i*batchGet:min((i+1)*batchGet, len(keys))])
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, fault.Wrap("batch get", classifyError(err))
	}
	for _, p := range parts[1:] {
		maps.Copy(parts[0], p)
	}
	return parts[0], nil
}

// getPart reads up to 100 items. It repeats the call for unprocessed ones.
func (d *DynamoDB) getPart(ctx context.Context, keys []Key) (map[Key]Item, error) {
	want := make([]attributes, len(keys))
	for i, k := range keys {
		want[i] = keyAttributes(k)
	}
	found := make(map[Key]Item, len(keys))
	err := callUntilDone(ctx, d.clock, want, func(ctx context.Context, want []attributes) ([]attributes, error) {
		out, err := d.getSome(ctx, want)
		if err != nil {
			return nil, err
		}
		return out.UnprocessedKeys[d.table].Keys, d.collectLive(found, out.Responses[d.table])
	})
	return found, err
}

// getSome makes one call for up to 100 items.
func (d *DynamoDB) getSome(ctx context.Context, want []attributes) (out *dynamodb.BatchGetItemOutput, err error) {
	_, err = d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
		meterOf(ctx).countTrips(1)
		out, err = d.db.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{
			RequestItems: map[string]types.KeysAndAttributes{d.table: {
				Keys:           want,
				ConsistentRead: consistency(ctx),
			}},
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		return err
	})
	if err == nil {
		meterOf(ctx).countRead(sumTableCapacity(out.ConsumedCapacity), attributePartitions(want)...)
	}
	return out, err
}

// attributePartitions returns the partition keys of items.
func attributePartitions(rows []attributes) []string {
	pks := make([]string, len(rows))
	for i, as := range rows {
		pks[i] = stringValue(as[pkAttr])
	}
	return pks
}

// sumTableCapacity returns the units of a call that reports them by table.
func sumTableCapacity(cs []types.ConsumedCapacity) float64 {
	sum := 0.0
	for i := range cs {
		sum += sumCapacity(&cs[i])
	}
	return sum
}

// collectLive adds the items that have not expired to found.
func (d *DynamoDB) collectLive(found map[Key]Item, rows []attributes) error {
	for _, as := range rows {
		it, err := d.liveItem(as)
		if err != nil {
			return err
		}
		if it.Data != nil {
			found[it.Key] = it
		}
	}
	return nil
}

// Query reads a page of a partition.
func (d *DynamoDB) Query(ctx context.Context, q Query) (Page, error) {
	if err := checkQuery(q); err != nil {
		return Page{}, err
	}
	in := d.queryInput(ctx, q)
	if q.Cursor != "" {
		after, err := decodeCursor(q.Cursor)
		if err != nil {
			return Page{}, err
		}
		in.ExclusiveStartKey, q.Skip = keyAttributes(Key{PK: q.PK, SK: after}), 0
	}
	if q.isEmptyRange() {
		return Page{}, ctx.Err()
	}
	skip := q.Skip
	if q.countsSkipped() {
		if more, err := d.skipItems(ctx, q.PK, in, skip); err != nil || !more {
			return Page{}, err
		}
		skip = 0
	}
	in.Select, in.Limit = types.SelectAllAttributes, aws.Int32(int32(q.pageLimit())) //nolint:gosec // it is small
	return d.readPage(ctx, q.PK, in, skip)
}

// queryInput returns the call for the query's range.
func (d *DynamoDB) queryInput(ctx context.Context, q Query) *dynamodb.QueryInput {
	x := newExpression(d.unixNow())
	cond, live := x.keyCondition(q), x.isLive()
	return &dynamodb.QueryInput{
		TableName: &d.table, ConsistentRead: consistency(ctx), ScanIndexForward: aws.Bool(!q.Reverse),
		KeyConditionExpression: &cond, FilterExpression: &live,
		ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	}
}

// skipItems moves the start of the query by n items, which the service only counts. It returns false if no items
// follow.
func (d *DynamoDB) skipItems(ctx context.Context, pk string, in *dynamodb.QueryInput, n int) (bool, error) {
	in.Select = types.SelectCount
	for n > 0 {
		in.Limit = aws.Int32(int32(min(n, 1<<30))) //nolint:gosec // bounded
		out, err := d.queryOnce(ctx, pk, in)
		if err != nil {
			return false, err
		}
		if n -= int(out.Count); out.LastEvaluatedKey == nil {
			return false, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
	return true, nil
}

// queryOnce makes one call for items of the partition pk.
func (d *DynamoDB) queryOnce(ctx context.Context, pk string, in *dynamodb.QueryInput) (out *dynamodb.QueryOutput,
	err error,
) {
	_, err = d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
		meterOf(ctx).countTrips(1)
		out, err = d.db.Query(ctx, in)
		return err
	})
	if err != nil {
		return nil, fault.Wrap("query", classifyError(err))
	}
	meterOf(ctx).countRead(sumCapacity(out.ConsumedCapacity), pk)
	return out, nil
}

// readPage reads the page after n items.
func (d *DynamoDB) readPage(ctx context.Context, pk string, in *dynamodb.QueryInput, n int) (Page, error) {
	for {
		out, err := d.queryOnce(ctx, pk, in)
		if err != nil {
			return Page{}, err
		}
		if n -= len(out.Items); n <= 0 || out.LastEvaluatedKey == nil {
			return newPage(out, n)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// newPage decodes a page. It keeps only the last -n items.
func newPage(out *dynamodb.QueryOutput, n int) (Page, error) {
	var p Page
	for _, as := range out.Items[min(len(out.Items), len(out.Items)+n):] {
		it, err := attributesItem(as)
		if err != nil {
			return Page{}, err
		}
		p.Items = append(p.Items, it)
	}
	if last := stringValue(out.LastEvaluatedKey[skAttr]); last != "" {
		p.Next = encodeCursor(last)
	}
	return p, nil
}
