// Package table is the store of the service: one table of items with a partition key and a sort key. It has two
// engines, DynamoDB and an embedded one for a laptop. A contract test ensures that both behave the same. It is the only
// package that uses DynamoDB.
package table

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Key identifies an item. PK is the partition key, SK the sort key; each has 1 to 1,024 bytes. Sort keys are ordered by
// bytes.
type Key struct{ PK, SK string }

// Item is one record. Data is a JSON object of at most 400,000 bytes. Conditions and changes name its top-level
// members. Numbers keep 38 digits. After Expires, the item counts as absent in reads and in conditions, even if it has
// not been removed yet. The zero Expires means never.
type Item struct {
	Key
	Data    json.RawMessage
	Expires time.Time
}

// Query selects items of one partition in the order of their sort keys.
type Query struct {
	PK       string
	Prefix   string // sort keys with this prefix; cannot be combined with From and To
	From, To string // sort keys with From ≤ SK ≤ To; an empty one means no bound
	Reverse  bool   // last sort key first
	Skip     int    // skip the first Skip items; engines count them without reading them
	Limit    int    // 1 to 10,000 items per page
	Cursor   string // Page.Next of the previous page, or "" for the first; Skip applies only to the first page
}

// Page is a page of the result of a Query. Next is "" only on the last page. A page may have fewer than Limit items, or
// none, if some have expired or if it would exceed 1 MB. The last page is empty if the previous one was exactly full.
type Page struct {
	Items []Item
	Next  string
}

// Store is the table. All methods are safe for concurrent use and respect ctx's deadline. Each counts one round trip in
// the Meter of ctx (BatchGet one per 100 keys). Reads are strongly consistent, unless ctx was made by Eventually.
type Store interface {
	// Get reads one item. It returns fault.NotFound if it is absent.
	Get(ctx context.Context, k Key) (Item, error)
	// BatchGet reads many items. Absent ones are missing from the result.
	BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error)
	// Query reads a page of a partition.
	Query(ctx context.Context, q Query) (Page, error)
	// Write does one write and returns the item afterwards (the zero Item after a delete). If a condition fails, the
	// error is a *ConditionError.
	Write(ctx context.Context, w Write) (Item, error)
	// BatchWrite does any number of unconditional puts and deletes. It is not atomic: if it fails, some may be done.
	BatchWrite(ctx context.Context, ws ...Write) error
	// Transact does up to 100 writes of different keys, all or none. If conditions fail, the error is a *ConditionError
	// that lists every failed write.
	Transact(ctx context.Context, ws ...Write) error
	// Feed reads the puts into outbox partitions (those whose PK ends in OutboxSuffix) after the cursor, oldest first.
	// "" means the oldest entry. Entries are kept for at least 24 hours.
	Feed(ctx context.Context, cursor string, limit int) (Feed, error)
}

// OutboxSuffix is the suffix of partition keys whose puts are delivered by Feed, and by the table's stream in AWS.
const OutboxSuffix = "#EVENTS"

// Feed is a part of the change feed. Next continues after it, even if Items is empty.
type Feed struct {
	Items []Item
	Next  string
}

// Verb is the kind of a Write.
type Verb uint8

// The verbs.
const (
	PutVerb Verb = iota + 1
	UpdateVerb
	DeleteVerb
	CheckVerb // only in Transact: the conditions must hold, nothing is written
)

// Write is one conditional write. Put, Update, Delete and Check return it.
type Write struct {
	Verb    Verb
	Item    Item     // only its Key, except for a put
	Changes []Change // of an update
	If      []Cond   // all must hold
}

// Put returns the write that creates or replaces the item.
func Put(it Item, conds ...Cond) Write { return Write{Verb: PutVerb, Item: it, If: conds} }

// Update returns the write that changes fields of the item. It creates the item if it is absent, unless a condition
// prevents that.
func Update(k Key, changes []Change, conds ...Cond) Write {
	return Write{Verb: UpdateVerb, Item: Item{Key: k}, Changes: changes, If: conds}
}

// Delete returns the write that deletes the item. Deleting an absent item is no error.
func Delete(k Key, conds ...Cond) Write {
	return Write{Verb: DeleteVerb, Item: Item{Key: k}, If: conds}
}

// Check returns the check of conditions of an item that the transaction does not write.
func Check(k Key, conds ...Cond) Write {
	return Write{Verb: CheckVerb, Item: Item{Key: k}, If: conds}
}

// ChangeOp is the kind of a Change.
type ChangeOp uint8

// The change operations.
const (
	SetOp     ChangeOp = iota + 1 // sets the field to Value
	SetOnceOp                     // sets the field to Value if it is absent
	AddOp                         // adds Value (an int64) to the number; an absent field counts as 0
	RemoveOp                      // removes the field
	ExpireOp                      // sets the item's expiry to Value (a time.Time)
)

// Change changes one top-level field.
type Change struct {
	Op    ChangeOp
	Field string
	Value any // any value that encoding/json can encode
}

// Set returns the change that sets the field to v.
func Set(field string, v any) Change { return Change{SetOp, field, v} }

// SetOnce returns the change that sets the field to v if it is absent.
func SetOnce(field string, v any) Change { return Change{SetOnceOp, field, v} }

// Add returns the change that adds n to the field.
func Add(field string, n int64) Change { return Change{AddOp, field, n} }

// Remove returns the change that removes the field.
func Remove(field string) Change { return Change{RemoveOp, field, nil} }

// Expire returns the change of the item's expiry.
func Expire(at time.Time) Change { return Change{ExpireOp, "", at} }

// CondOp is the kind of a Cond.
type CondOp uint8

// The condition operations. Comparisons are between strings (by bytes) or between numbers. NotEqualOp holds for a field
// that is absent or has another type, all other comparisons fail.
const (
	AbsentOp CondOp = iota + 1
	ExistsOp
	HasOp
	LacksOp
	EqualOp
	NotEqualOp
	LessOp
	LessEqualOp
	GreaterOp
	GreaterEqualOp
	AnyOp // at least one of Any holds
)

// Cond is a condition on an item.
type Cond struct {
	Op    CondOp
	Field string
	Value any // string, bool, int, int64
	Any   []Cond
}

// Absent is the condition that the item does not exist or has expired.
func Absent() Cond { return Cond{Op: AbsentOp} }

// Exists is the condition that the item exists and has not expired.
func Exists() Cond { return Cond{Op: ExistsOp} }

// Has is the condition that the field exists.
func Has(field string) Cond { return Cond{Op: HasOp, Field: field} }

// Lacks is the condition that the field does not exist.
func Lacks(field string) Cond { return Cond{Op: LacksOp, Field: field} }

// Equal is the condition field = v.
func Equal(field string, v any) Cond { return Cond{Op: EqualOp, Field: field, Value: v} }

// NotEqual is the condition field ≠ v.
func NotEqual(field string, v any) Cond { return Cond{Op: NotEqualOp, Field: field, Value: v} }

// Less is the condition field < v.
func Less(field string, v any) Cond { return Cond{Op: LessOp, Field: field, Value: v} }

// LessEqual is the condition field ≤ v.
func LessEqual(field string, v any) Cond { return Cond{Op: LessEqualOp, Field: field, Value: v} }

// Greater is the condition field > v.
func Greater(field string, v any) Cond { return Cond{Op: GreaterOp, Field: field, Value: v} }

// GreaterEqual is the condition field ≥ v.
func GreaterEqual(field string, v any) Cond { return Cond{Op: GreaterEqualOp, Field: field, Value: v} }

// Any is the condition that at least one of conds holds.
func Any(conds ...Cond) Cond { return Cond{Op: AnyOp, Any: conds} }

// Failure is a write whose condition failed. Old is the item that was found. Its Data is nil if it is absent.
type Failure struct {
	Index int
	Old   Item
}

// ConditionError lists the writes whose conditions failed. Its kind is Conflict.
type ConditionError struct{ Failed []Failure }

// Error names the first failed write.
func (e *ConditionError) Error() string {
	if len(e.Failed) == 0 {
		return "condition failed"
	}
	return fmt.Sprintf("condition failed on write %d (%s %s)", e.Failed[0].Index, e.Failed[0].Old.PK,
		e.Failed[0].Old.SK)
}

// Fault returns Conflict.
func (e *ConditionError) Fault() fault.Kind { return fault.Conflict }

// Old returns the item that write i found, and whether its condition failed.
func (e *ConditionError) Old(i int) (Item, bool) {
	for _, f := range e.Failed {
		if f.Index == i {
			return f.Old, true
		}
	}
	return Item{}, false
}
