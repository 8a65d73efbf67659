package tabletest

import (
	"encoding/json"
	"errors"
	"math/big"
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// Skips are the cases of the contract that a stand-in of an engine is known to fail, with the reasons.
type Skips map[string]string

// cases are the contract, as sentences.
var cases = []struct {
	name string
	run  func(*testing.T, table.Store)
}{
	{"an item is put, read, replaced and deleted", putGetDelete},
	{"every condition holds or fails as written", testConditions},
	{"a comparison between kinds does not hold", conditionsKinds},
	{"every condition takes an expired item for absent", expiredConditions},
	{"a failed condition tells the item that it found", conditionOld},
	{"every change does what it says", testChanges},
	{"a change of a malformed kind is refused", changesRefused},
	{"an update creates an absent item and starts an expired one afresh", updateCreates},
	{"expired items are absent from reads", expiredReads},
	{"queries agree with a sorted list", testQueries},
	{"a query of a damaged cursor or shape is refused", queriesRefused},
	{"big pages are cut short and go on", bigPages},
	{"a merge of partitions reads as one partition does", testMerge},
	{"a page counts what has expired, and a full one goes on", expiredPages},
	{"batches of hundreds are written and read", testBatches},
	{"a batch of a condition or a key twice is refused", batchesRefused},
	{"a transaction of 100 writes is done as a whole", testTransactions},
	{"a failed transaction does nothing and names each failure", transactionsFail},
	{"a transaction sees expired items as absent", transactionsExpired},
	{"a malformed transaction is refused", transactionsRefused},
	{"transactions in conflict are each done or refused", transactionsConflict},
	{"2,400 parallel conditional adds from 12 stores stay exact", testCounters},
	{"the feed delivers outbox puts in order and resumes", testFeed},
	{"an entry of the feed holds the item as it was put", feedItems},
	{"keys of any UTF-8 are kept apart and ordered by bytes", testKeys},
	{"malformed keys and items are refused", testLimits},
	{"the largest item and the longest keys are kept", testLargest},
	{"numbers keep 38 digits", testNumbers},
	{"every JSON value comes back", testValues},
	{"any field name may be used", testNames},
	{"a context that has ended does nothing", testEnded},
	{"the meter counts round trips and units", testMeter},
}

// Run tests the contract with the engine that open returns. Each case opens its own store.
func Run(t *testing.T, open func(t *testing.T) table.Store, skips ...Skips) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			for _, s := range skips {
				if why := s[c.name]; why != "" {
					t.Skip("SKIPPED: " + why)
				}
			}
			c.run(t, open(t))
		})
	}
}

// past and future are expiries before and after the test.
func past() time.Time   { return time.Now().Add(-time.Minute) }
func future() time.Time { return time.Now().Add(time.Hour) }

// newKey returns a key.
func newKey(pk, sk string) table.Key { return table.Key{PK: pk, SK: sk} }

// newItem returns an item.
func newItem(k table.Key, data string) table.Item {
	return table.Item{Key: k, Data: json.RawMessage(data)}
}

// expiringItem returns an item with an expiry.
func expiringItem(k table.Key, data string, end time.Time) table.Item {
	return table.Item{Key: k, Data: json.RawMessage(data), Expires: end}
}

// writeItems puts items, and fails the test if one is refused.
func writeItems(t *testing.T, s table.Store, items ...table.Item) {
	t.Helper()
	for _, it := range items {
		if _, err := s.Write(t.Context(), table.Put(it)); err != nil {
			t.Fatalf("put %q %q: %v", it.PK, it.SK, err)
		}
	}
}

// wantData requires that the item exists with the data want.
func wantData(t *testing.T, s table.Store, k table.Key, want string) {
	t.Helper()
	it, err := s.Get(t.Context(), k)
	if err != nil {
		t.Fatalf("get %q %q: %v", k.PK, k.SK, err)
	}
	if it.Key != k || !sameJSON(it.Data, []byte(want)) {
		t.Errorf("item %q %q = %s, want %s", it.PK, it.SK, it.Data, want)
	}
}

// wantAbsent requires that the item does not exist.
func wantAbsent(t *testing.T, s table.Store, k table.Key) {
	t.Helper()
	if it, err := s.Get(t.Context(), k); !fault.Is(err, fault.NotFound) {
		t.Errorf("get %q %q = %s, %v; want it absent", k.PK, k.SK, it.Data, err)
	}
}

// wantInvalid requires that err is fault.Invalid.
func wantInvalid(t *testing.T, what string, err error) {
	t.Helper()
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%s: error = %v, want a refusal as invalid", what, err)
	}
}

// conditionError returns the condition error in err. It ends the test if there is none.
func conditionError(t *testing.T, err error) *table.ConditionError {
	t.Helper()
	c, ok := errors.AsType[*table.ConditionError](err)
	if !ok {
		t.Fatalf("error = %v, want a condition error", err)
	}
	if !fault.Is(err, fault.Conflict) {
		t.Errorf("kind of %v = %v, want conflict", err, fault.KindOf(err))
	}
	return c
}

// sameJSON reports whether two JSON texts are equal: numbers by value, objects regardless of order.
func sameJSON(a, b []byte) bool { return reflect.DeepEqual(decodePlain(a), decodePlain(b)) }

// decodePlain decodes JSON with normalized numbers.
func decodePlain(data []byte) any {
	dec := json.NewDecoder(strings.NewReader(string(data)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return err
	}
	return normalizeNumbers(v)
}

// normalizeNumbers normalizes every number within v.
func normalizeNumbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		r, ok := new(big.Rat).SetString(x.String())
		if !ok {
			return x
		}
		return r.RatString()
	case []any:
		for i := range x {
			x[i] = normalizeNumbers(x[i])
		}
	case map[string]any:
		for k := range x {
			x[k] = normalizeNumbers(x[k])
		}
	}
	return v
}
