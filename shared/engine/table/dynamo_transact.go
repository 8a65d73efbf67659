package table

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"lamplighter.dev/shared/foundation/fault"
)

// Transact does up to 100 writes, all or none. Each transaction has a token, so that repeating it after a lost reply
// does nothing twice.
func (d *DynamoDB) Transact(ctx context.Context, ws ...Write) error {
	if err := checkTransact(ws); err != nil {
		return err
	}
	ctx, cancel := withDefaultDeadline(ctx)
	defer cancel()
	err := d.transactOnce(ctx, ws)
	for range maxPurges {
		way, ok := errors.AsType[*expiredError](err)
		if !ok {
			break
		}
		if err = d.purgeAll(ctx, way.keys); err == nil {
			err = d.transactOnce(ctx, ws)
		}
	}
	if _, refused := errors.AsType[*ConditionError](err); refused {
		return err
	}
	return fault.Wrap(fmt.Sprintf("transact %d writes from %s", len(ws), ws[0].Item.PK), classifyError(err))
}

// expiredError lists the expired items that make a transaction fail.
type expiredError struct{ keys []Key }

// Error returns a fixed text.
func (e *expiredError) Error() string { return errExpired.Error() }

// purgeAll deletes expired items.
func (d *DynamoDB) purgeAll(ctx context.Context, keys []Key) error {
	for _, k := range keys {
		if err := d.deleteExpired(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// transactOnce makes the call. All attempts have the same token and the same writes.
func (d *DynamoDB) transactOnce(ctx context.Context, ws []Write) error {
	items, err := d.transactItems(ws)
	if err != nil {
		return err
	}
	token := rand.Text()
	_, err = d.callWithRetry(ctx, false, func(ctx context.Context) error {
		meterOf(ctx).countTrips(1)
		out, err := d.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
			TransactItems: items, ClientRequestToken: &token, ReturnConsumedCapacity: counted,
		})
		if err != nil {
			return d.explainCancelled(meterOf(ctx), ws, err)
		}
		meterOf(ctx).countWrite(sumTableCapacity(out.ConsumedCapacity), partitions(ws)...)
		return nil
	})
	return err
}

// transactItems returns writes in DynamoDB's format.
func (d *DynamoDB) transactItems(ws []Write) ([]types.TransactWriteItem, error) {
	items := make([]types.TransactWriteItem, len(ws))
	for i := range ws {
		it, err := d.transactItem(&ws[i])
		if err != nil {
			return nil, fmt.Errorf("write %d: %w", i, err)
		}
		items[i] = it
	}
	return items, nil
}

// transactItem returns a write in DynamoDB's format.
func (d *DynamoDB) transactItem(w *Write) (it types.TransactWriteItem, err error) {
	x := newExpression(d.unixNow())
	cond, err := x.conditionExpression(w)
	if err != nil {
		return it, err
	}
	switch w.Verb {
	case PutVerb:
		p := &types.Put{TableName: &d.table, ConditionExpression: cond, ReturnValuesOnConditionCheckFailure: tellOld}
		p.ExpressionAttributeNames, p.ExpressionAttributeValues = x.nameMap(), x.valueMap()
		p.Item, err = itemAttributes(w.Item)
		it.Put = p
	case UpdateVerb:
		u := &types.Update{
			TableName: &d.table, Key: keyAttributes(w.Item.Key), ConditionExpression: cond,
			ReturnValuesOnConditionCheckFailure: tellOld,
		}
		u.UpdateExpression, err = x.updateExpression(w.Changes)
		u.ExpressionAttributeNames, u.ExpressionAttributeValues = x.nameMap(), x.valueMap()
		it.Update = u
	case DeleteVerb:
		it.Delete = &types.Delete{
			TableName: &d.table, Key: keyAttributes(w.Item.Key), ConditionExpression: cond,
			ReturnValuesOnConditionCheckFailure: tellOld,
			ExpressionAttributeNames:            x.nameMap(), ExpressionAttributeValues: x.valueMap(),
		}
	case CheckVerb:
		it.ConditionCheck = &types.ConditionCheck{
			TableName: &d.table, Key: keyAttributes(w.Item.Key), ConditionExpression: cond,
			ReturnValuesOnConditionCheckFailure: tellOld,
			ExpressionAttributeNames:            x.nameMap(), ExpressionAttributeValues: x.valueMap(),
		}
	}
	return it, err
}

// explainCancelled returns the error for the reasons of a cancelled transaction.
func (d *DynamoDB) explainCancelled(m *Meter, ws []Write, err error) error {
	c, ok := errors.AsType[*types.TransactionCanceledException](err)
	if !ok || len(c.CancellationReasons) != len(ws) {
		return err
	}
	r := verdict{d: d}
	for i := range ws {
		m.countWrite(float64(2*writeUnits(attributesSize(c.CancellationReasons[i].Item))), ws[i].Item.PK)
		if err := r.addReason(i, &ws[i], &c.CancellationReasons[i]); err != nil {
			return err
		}
	}
	return r.toError(err)
}

// verdict collects the reasons of a cancelled transaction.
type verdict struct {
	d       *DynamoDB
	failed  []Failure
	expired []Key
	invalid string
	busy    class
	held    []Key
}

// addReason adds the reason of one write.
func (v *verdict) addReason(i int, w *Write, r *types.CancellationReason) error {
	if r.Code == nil {
		return nil
	}
	switch *r.Code {
	case "ConditionalCheckFailed":
		f, err := v.d.conditionFailure(i, w, r.Item)
		switch {
		case errors.Is(err, errExpired):
			v.expired = append(v.expired, w.Item.Key)
		case err != nil:
			return err
		default:
			v.failed = append(v.failed, f)
		}
	case "TransactionConflict":
		v.busy = max(v.busy, conflicted)
		v.held = append(v.held, w.Item.Key)
	case "ThrottlingError", "ProvisionedThroughputExceeded":
		v.busy = max(v.busy, throttled)
	case "ValidationError":
		if v.invalid = "its data cannot be kept"; r.Message != nil {
			v.invalid = *r.Message
		}
	}
	return nil
}

// toError returns the error, in order of precedence: invalid data, failed conditions, temporary obstacles.
func (v *verdict) toError(err error) error {
	switch {
	case v.invalid != "":
		return fault.NewWithCause(fault.Invalid, err, "the store refused the item: %s", v.invalid)
	case v.failed != nil:
		return &ConditionError{Failed: v.failed}
	case v.expired != nil:
		return &expiredError{v.expired}
	case v.busy != final:
		return &busyError{v.busy, v.held, err}
	default:
		return err
	}
}
