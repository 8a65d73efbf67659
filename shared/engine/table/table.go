// Package table is the store of the service: one table of items under a partition key and a sort key, with two engines
// behind one narrow interface, DynamoDB and an embedded one for a laptop. A contract test holds both to the same
// behaviour. It is the only package that names DynamoDB.
package table

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// Key names an item. PK is the partition (1–1,024 bytes), SK the sort key within it (1–1,024 bytes, ordered by bytes).
type Key struct{ PK, SK string }

// Item is one row. Data is a JSON object whose top-level members are the fields that conditions and changes name;
// numbers keep 38 digits. At most 400,000 bytes. An item whose Expires has passed counts as absent in reads and in the
// conditions Absent and Exists, whether or not the engine has swept it; the zero Expires is never.
type Item struct {
	Key
	Data    json.RawMessage
	Expires time.Time
}

// Query asks for the items of one partition in the order of their sort keys.
type Query struct {
	PK       string
	Prefix   string // sort keys that begin with it; may be combined with neither From nor To
	From, To string // sort keys within From ≤ SK ≤ To; an empty one is open
	Reverse  bool   // last sort key first
	Skip     int    // leave out the first Skip items; engines count them without handing them over
	Limit    int    // 1–10,000 items a page
	Cursor   string // Page.Next of the page before; "" is the first. Skip then does not apply again
}

// Page is part of the answer to a Query. Next is "" on the last one, and only there; a page may be shorter than Limit, or empty,
// when items in it have expired or it would be bigger than 1 MB, and the last one is empty when the one before was just full.
type Page struct {
	Items []Item
	Next  string
}

// Store is the table. All methods are safe for use by many goroutines, honour ctx's deadline, and count one round trip
// each (BatchGet one per 100 keys) in the Meter of ctx, if it has one. Reads are strongly consistent, but those of a ctx made by
// Eventually.
type Store interface {
	// Get reads one item; fault.NotFound when absent.
	Get(ctx context.Context, k Key) (Item, error)
	// BatchGet reads many items; absent ones are missing from the answer.
	BatchGet(ctx context.Context, keys ...Key) (map[Key]Item, error)
	// Query reads a page of a partition.
	Query(ctx context.Context, q Query) (Page, error)
	// Write does one write and tells the item as it is afterwards (the zero Item after a delete). A condition that does
	// not hold is a *ConditionError.
	Write(ctx context.Context, w Write) (Item, error)
	// BatchWrite does any number of unconditional puts and deletes, not as one unit; when it fails, some may be done.
	BatchWrite(ctx context.Context, ws ...Write) error
	// Transact does up to 100 writes of different keys, all or none. A condition that does not hold is a
	// *ConditionError that names every failed write.
	Transact(ctx context.Context, ws ...Write) error
	// Feed reads, oldest first, the items put into outbox partitions (those whose PK ends in OutboxSuffix) after the
	// cursor ("" is the oldest kept). At least 24 hours are kept.
	Feed(ctx context.Context, cursor string, limit int) (Feed, error)
}

// OutboxSuffix ends the partition keys whose puts are delivered by Feed, and by the table's stream in AWS.
const OutboxSuffix = "#EVENTS"

// Feed is a part of the change feed. Next continues after it, also when Items is empty.
type Feed struct {
	Items []Item
	Next  string
}

// Verb is what a Write does.
type Verb uint8

// The verbs.
const (
	PutVerb Verb = iota + 1
	UpdateVerb
	DeleteVerb
	CheckVerb // only in Transact: the conditions must hold, nothing is written
)

// Write is one conditional write. Make it by Put, Update, Delete or Check.
type Write struct {
	Verb    Verb
	Item    Item     // of a put; otherwise only its Key
	Changes []Change // of an update
	If      []Cond   // all must hold
}

// Put replaces or creates the item.
func Put(it Item, conds ...Cond) Write { return Write{Verb: PutVerb, Item: it, If: conds} }

// Update changes fields of the item, and creates it when it is absent and no condition forbids that.
func Update(k Key, changes []Change, conds ...Cond) Write {
	return Write{Verb: UpdateVerb, Item: Item{Key: k}, Changes: changes, If: conds}
}

// Delete removes the item; removing an absent one is no error.
func Delete(k Key, conds ...Cond) Write {
	return Write{Verb: DeleteVerb, Item: Item{Key: k}, If: conds}
}

// Check demands conditions of an item within a transaction that does not write it.
func Check(k Key, conds ...Cond) Write {
	return Write{Verb: CheckVerb, Item: Item{Key: k}, If: conds}
}

// ChangeOp is what a Change does to its field.
type ChangeOp uint8

// The change operations.
const (
	SetOp     ChangeOp = iota + 1 // the field becomes Value
	SetOnceOp                     // the field becomes Value if it is absent
	AddOp                         // the number grows by Value (an int64); an absent one counts as 0
	RemoveOp                      // the field goes
	ExpireOp                      // the item's expiry becomes Value (a time.Time)
)

// Change changes one top-level field.
type Change struct {
	Op    ChangeOp
	Field string
	Value any // anything encoding/json can write
}

// Set makes the field v.
func Set(field string, v any) Change { return Change{SetOp, field, v} }

// SetOnce makes the field v if it is absent.
func SetOnce(field string, v any) Change { return Change{SetOnceOp, field, v} }

// Add adds n to the field.
func Add(field string, n int64) Change { return Change{AddOp, field, n} }

// Remove removes the field.
func Remove(field string) Change { return Change{RemoveOp, field, nil} }

// Expire sets when the item ends.
func Expire(at time.Time) Change { return Change{ExpireOp, "", at} }

// CondOp is what a Cond demands.
type CondOp uint8

// The condition operations. Comparisons are between strings (by bytes) or between numbers; a field that is absent or of
// the other kind fails them, but for NotEqualOp, which it meets.
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

// Absent demands that the item does not exist (or has expired).
func Absent() Cond { return Cond{Op: AbsentOp} }

// Exists demands that the item exists (and has not expired).
func Exists() Cond { return Cond{Op: ExistsOp} }

// Has demands that the field is there.
func Has(field string) Cond { return Cond{Op: HasOp, Field: field} }

// Lacks demands that the field is not there.
func Lacks(field string) Cond { return Cond{Op: LacksOp, Field: field} }

// Equal demands field = v.
func Equal(field string, v any) Cond { return Cond{Op: EqualOp, Field: field, Value: v} }

// NotEqual demands field ≠ v.
func NotEqual(field string, v any) Cond { return Cond{Op: NotEqualOp, Field: field, Value: v} }

// Less demands field < v.
func Less(field string, v any) Cond { return Cond{Op: LessOp, Field: field, Value: v} }

// LessEqual demands field ≤ v.
func LessEqual(field string, v any) Cond { return Cond{Op: LessEqualOp, Field: field, Value: v} }

// Greater demands field > v.
func Greater(field string, v any) Cond { return Cond{Op: GreaterOp, Field: field, Value: v} }

// GreaterEqual demands field ≥ v.
func GreaterEqual(field string, v any) Cond { return Cond{Op: GreaterEqualOp, Field: field, Value: v} }

// Any demands that at least one of conds holds.
func Any(conds ...Cond) Cond { return Cond{Op: AnyOp, Any: conds} }

// Failure is one write whose condition did not hold. Old is the item as it was found, its Data nil when absent.
type Failure struct {
	Index int
	Old   Item
}

// ConditionError tells which writes' conditions did not hold. Its kind is Conflict.
type ConditionError struct{ Failed []Failure }

// Error names the first failed write.
func (e *ConditionError) Error() string {
	if len(e.Failed) == 0 {
		return "condition failed"
	}
	return fmt.Sprintf("condition failed on write %d (%s %s)", e.Failed[0].Index, e.Failed[0].Old.PK,
		e.Failed[0].Old.SK)
}

// Fault is Conflict.
func (e *ConditionError) Fault() fault.Kind { return fault.Conflict }

// Old returns the item that write i found when its condition failed, and whether it did fail.
func (e *ConditionError) Old(i int) (Item, bool) {
	for _, f := range e.Failed {
		if f.Index == i {
			return f.Old, true
		}
	}
	return Item{}, false
}
