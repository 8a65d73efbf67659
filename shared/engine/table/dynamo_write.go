package table

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"lamplighter.dev/shared/foundation/fault"
)

// purges bounds how often one write may find an expired item in its way.
const purges = 3

// errExpired tells that an expired item, not yet swept, is in the way of an update.
var errExpired = errors.New("an expired item is in the way")

// Write does one write. When the reply to a write that must not be done twice is lost, the error is ErrLost.
func (d *DynamoDB) Write(ctx context.Context, w Write) (Item, error) {
	if err := checkSingle(w); err != nil {
		return Item{}, err
	}
	it, err := d.write(ctx, &w)
	for range purges {
		if !errors.Is(err, errExpired) {
			break
		}
		if err = d.deleteExpired(ctx, w.Item.Key); err == nil {
			it, err = d.write(ctx, &w)
		}
	}
	if _, refused := errors.AsType[*ConditionError](err); refused {
		return Item{}, err
	}
	return it, fault.Wrap("write "+w.Item.PK+" "+w.Item.SK, classifyError(err))
}

// write makes the call of a write, again as often as that is safe.
func (d *DynamoDB) write(ctx context.Context, w *Write) (it Item, err error) {
	call, err := d.call(w)
	if err != nil {
		return Item{}, err
	}
	var units float64
	murky, err := d.callWithRetry(ctx, counts(w), func(ctx context.Context) (err error) {
		meterOf(ctx).countTrips(1)
		it, units, err = call(ctx)
		return err
	})
	m := meterOf(ctx)
	if c, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return d.refusal(m, w, c.Item, murky)
	}
	m.countWrite(units, w.Item.PK)
	return it, err
}

// counts reports whether doing the write twice differs from doing it once.
func counts(w *Write) bool {
	return slices.ContainsFunc(w.Changes, func(c Change) bool { return c.Op == AddOp })
}

// refusal returns the outcome of a write whose condition did not hold. When an earlier attempt may have been done, the
// condition may have failed on our own write: a put is recognized by its item, anything else is ErrLost.
func (d *DynamoDB) refusal(m *Meter, w *Write, old attributes, murky bool) (Item, error) {
	f, err := d.conditionFailure(0, w, old)
	if m.countWrite(float64(writeUnits(attributesSize(old))), w.Item.PK); err != nil {
		return Item{}, err
	}
	if !murky {
		return Item{}, &ConditionError{Failed: []Failure{f}}
	}
	if want, err := itemAttributes(w.Item); w.Verb == PutVerb && err == nil && sameAttributes(want, old) {
		return w.itemAfter(&row{})
	}
	return Item{}, ErrLost
}

// conditionFailure returns which item failed w's conditions. An expired one that only stands in the way is errExpired.
func (d *DynamoDB) conditionFailure(i int, w *Write, old attributes) (Failure, error) {
	it, err := d.liveItem(old)
	if err != nil {
		return Failure{}, err
	}
	it.Key = w.Item.Key
	if w.Verb == UpdateVerb && it.Data == nil && len(old) > 0 {
		if ok, err := new(row).meetsAll(w.If); ok || err != nil {
			return Failure{}, errors.Join(err, errExpired)
		}
	}
	return Failure{Index: i, Old: it}, nil
}

// attributesSize returns the size of an item by DynamoDB's rules.
func attributesSize(as attributes) int {
	it, err := attributesItem(as)
	if err != nil {
		return 0
	}
	n, err := checkItem(it)
	if err != nil {
		return MaxItem
	}
	return n
}

// sameAttributes reports whether two items are equal.
func sameAttributes(a, b attributes) bool {
	x, err := attributesItem(a)
	y, err2 := attributesItem(b)
	return err == nil && err2 == nil && x.Key == y.Key && x.Expires.Equal(y.Expires) && string(x.Data) == string(y.Data)
}

// deleteExpired removes an item that has expired; one that was renewed meanwhile stays.
func (d *DynamoDB) deleteExpired(ctx context.Context, k Key) error {
	x := newExpression(d.unixNow())
	cond := x.isExpired()
	_, err := d.callWithRetry(ctx, false, func(ctx context.Context) error {
		meterOf(ctx).countTrips(1)
		out, err := d.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &d.table, Key: keyAttributes(k), ConditionExpression: &cond,
			ExpressionAttributeNames: x.names, ExpressionAttributeValues: x.values,
			ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
		})
		if err == nil {
			meterOf(ctx).countWrite(sumCapacity(out.ConsumedCapacity), k.PK)
		}
		return err
	})
	if _, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return nil
	}
	return err
}

// single is one attempt at a write: the item afterwards and the units that it cost.
type single func(context.Context) (Item, float64, error)

// call prepares a write.
func (d *DynamoDB) call(w *Write) (single, error) {
	x := newExpression(d.unixNow())
	cond, err := x.conditionExpression(w)
	if err != nil {
		return nil, err
	}
	switch w.Verb {
	case PutVerb:
		return d.put(w, x, cond)
	case UpdateVerb:
		return d.update(w, x, cond)
	default:
		return d.remove(w, x, cond), nil
	}
}

const (
	counted = types.ReturnConsumedCapacityTotal
	tellOld = types.ReturnValuesOnConditionCheckFailureAllOld
)

// put prepares a put.
func (d *DynamoDB) put(w *Write, x *expression, cond *string) (single, error) {
	as, err := itemAttributes(w.Item)
	if err != nil {
		return nil, err
	}
	after, err := w.itemAfter(&row{})
	return func(ctx context.Context) (Item, float64, error) {
		out, err := d.db.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: &d.table, Item: as, ConditionExpression: cond,
			ExpressionAttributeNames: x.nameMap(), ExpressionAttributeValues: x.valueMap(),
			ReturnConsumedCapacity: counted, ReturnValuesOnConditionCheckFailure: tellOld,
		})
		if err != nil {
			return Item{}, 0, err
		}
		return after, sumCapacity(out.ConsumedCapacity), nil
	}, err
}

// update prepares an update.
func (d *DynamoDB) update(w *Write, x *expression, cond *string) (single, error) {
	changes, err := x.updateExpression(w.Changes)
	return func(ctx context.Context) (Item, float64, error) {
		out, err := d.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName: &d.table, Key: keyAttributes(w.Item.Key), UpdateExpression: changes, ConditionExpression: cond,
			ExpressionAttributeNames: x.nameMap(), ExpressionAttributeValues: x.valueMap(),
			ReturnValues:           types.ReturnValueAllNew,
			ReturnConsumedCapacity: counted, ReturnValuesOnConditionCheckFailure: tellOld,
		})
		if err != nil {
			return Item{}, 0, err
		}
		it, err := attributesItem(out.Attributes)
		return it, sumCapacity(out.ConsumedCapacity), err
	}, err
}

// remove prepares a delete.
func (d *DynamoDB) remove(w *Write, x *expression, cond *string) single {
	return func(ctx context.Context) (Item, float64, error) {
		out, err := d.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
			TableName: &d.table, Key: keyAttributes(w.Item.Key), ConditionExpression: cond,
			ExpressionAttributeNames: x.nameMap(), ExpressionAttributeValues: x.valueMap(),
			ReturnConsumedCapacity: counted, ReturnValuesOnConditionCheckFailure: tellOld,
		})
		if err != nil {
			return Item{}, 0, err
		}
		return Item{}, sumCapacity(out.ConsumedCapacity), nil
	}
}

// BatchWrite does any number of puts and deletes, several calls at a time.
func (d *DynamoDB) BatchWrite(ctx context.Context, ws ...Write) error {
	if err := checkBatch(ws); err != nil {
		return err
	}
	g, gctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for part := range slices.Chunk(ws, batchWrite) {
		g.Go(func() error { return d.writePart(gctx, part) })
	}
	if err := g.Wait(); err != nil {
		return fault.Wrap("batch write", classifyError(err))
	}
	return nil
}

// writePart does up to 25 writes, sending again what was left out.
func (d *DynamoDB) writePart(ctx context.Context, ws []Write) error {
	todo, err := requests(ws)
	if err != nil {
		return err
	}
	return callUntilDone(ctx, d.clock, todo, d.writeSome)
}

// requests are writes in DynamoDB's shape.
func requests(ws []Write) ([]types.WriteRequest, error) {
	rs := make([]types.WriteRequest, len(ws))
	for i := range ws {
		if ws[i].Verb == DeleteVerb {
			rs[i].DeleteRequest = &types.DeleteRequest{Key: keyAttributes(ws[i].Item.Key)}
			continue
		}
		as, err := itemAttributes(ws[i].Item)
		if err != nil {
			return nil, fmt.Errorf("write %s %s: %w", ws[i].Item.PK, ws[i].Item.SK, err)
		}
		rs[i].PutRequest = &types.PutRequest{Item: as}
	}
	return rs, nil
}

// requestPartitions returns the partition keys of requests.
func requestPartitions(rs []types.WriteRequest) []string {
	pks := make([]string, len(rs))
	for i, r := range rs {
		if r.DeleteRequest != nil {
			pks[i] = stringValue(r.DeleteRequest.Key[pkAttr])
		} else {
			pks[i] = stringValue(r.PutRequest.Item[pkAttr])
		}
	}
	return pks
}

// writeSome makes one call for up to 25 writes and tells which were left undone.
func (d *DynamoDB) writeSome(ctx context.Context, todo []types.WriteRequest) ([]types.WriteRequest, error) {
	var out *dynamodb.BatchWriteItemOutput
	_, err := d.callWithRetry(ctx, false, func(ctx context.Context) (err error) {
		meterOf(ctx).countTrips(1)
		out, err = d.db.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
			RequestItems:           map[string][]types.WriteRequest{d.table: todo},
			ReturnConsumedCapacity: counted,
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	meterOf(ctx).countWrite(sumTableCapacity(out.ConsumedCapacity), requestPartitions(todo)...)
	return out.UnprocessedItems[d.table], nil
}
