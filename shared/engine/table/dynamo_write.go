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

// purges limits how often one write may delete an expired item first.
const maxPurges = 3

// errExpired says that an expired item, not removed yet, prevents an update.
var errExpired = errors.New("an expired item is in the way")

// Write does one write. If the reply to a write that must not be repeated is lost, the error is ErrLost.
func (d *DynamoDB) Write(ctx context.Context, w Write) (Item, error) {
	if err := checkSingle(w); err != nil {
		return Item{}, err
	}
	it, err := d.writeWithRetry(ctx, &w)
	for range maxPurges {
		if !errors.Is(err, errExpired) {
			break
		}
		if err = d.deleteExpired(ctx, w.Item.Key); err == nil {
			it, err = d.writeWithRetry(ctx, &w)
		}
	}
	if _, refused := errors.AsType[*ConditionError](err); refused {
		return Item{}, err
	}
	return it, fault.Wrap("write "+w.Item.PK+" "+w.Item.SK, classifyError(err))
}

// writeWithRetry makes the call of a write, and repeats it while that is safe.
func (d *DynamoDB) writeWithRetry(ctx context.Context, w *Write) (it Item, err error) {
	call, err := d.prepareCall(w)
	if err != nil {
		return Item{}, err
	}
	var units float64
	murky, err := d.callWithRetry(ctx, isCounting(w), func(ctx context.Context) (err error) {
		meterOf(ctx).countTrips(1)
		it, units, err = call(ctx)
		return err
	})
	m := meterOf(ctx)
	if c, ok := errors.AsType[*types.ConditionalCheckFailedException](err); ok {
		return d.explainRefusal(m, w, c.Item, murky)
	}
	m.countWrite(units, w.Item.PK)
	return it, err
}

// isCounting reports whether repeating the write has another result than doing it once.
func isCounting(w *Write) bool {
	return slices.ContainsFunc(w.Changes, func(c Change) bool { return c.Op == AddOp })
}

// explainRefusal returns the result of a write whose condition failed. If an earlier attempt may have succeeded, the
// condition may have failed because of that write. A put is recognized by its item; all others return ErrLost.
func (d *DynamoDB) explainRefusal(m *Meter, w *Write, old attributes, murky bool) (Item, error) {
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

// conditionFailure returns the item that failed w's conditions. It returns errExpired for an expired item that only
// needs to be deleted.
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

// deleteExpired deletes an item, unless it was renewed in the meantime.
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

// single is one attempt of a write. It returns the item afterwards, and the consumed units.
type single func(context.Context) (Item, float64, error)

// prepareCall prepares a write.
func (d *DynamoDB) prepareCall(w *Write) (single, error) {
	x := newExpression(d.unixNow())
	cond, err := x.conditionExpression(w)
	if err != nil {
		return nil, err
	}
	switch w.Verb {
	case PutVerb:
		return d.preparePut(w, x, cond)
	case UpdateVerb:
		return d.prepareUpdate(w, x, cond)
	default:
		return d.prepareDelete(w, x, cond), nil
	}
}

const (
	counted = types.ReturnConsumedCapacityTotal
	tellOld = types.ReturnValuesOnConditionCheckFailureAllOld
)

// preparePut prepares a put.
func (d *DynamoDB) preparePut(w *Write, x *expression, cond *string) (single, error) {
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

// prepareUpdate prepares an update.
func (d *DynamoDB) prepareUpdate(w *Write, x *expression, cond *string) (single, error) {
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

// prepareDelete prepares a delete.
func (d *DynamoDB) prepareDelete(w *Write, x *expression, cond *string) single {
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

// BatchWrite does any number of puts and deletes, with several concurrent calls.
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

// writePart does up to 25 writes. It repeats the call for unprocessed ones.
func (d *DynamoDB) writePart(ctx context.Context, ws []Write) error {
	todo, err := writeRequests(ws)
	if err != nil {
		return err
	}
	return callUntilDone(ctx, d.clock, todo, d.writeSome)
}

// writeRequests returns writes in DynamoDB's format.
func writeRequests(ws []Write) ([]types.WriteRequest, error) {
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

// writeSome makes one call for up to 25 writes, and returns the unprocessed ones.
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
