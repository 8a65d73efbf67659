package table

import (
	"strings"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/foundation/fault"
)

// The limits of both engines. They are those of DynamoDB, or stricter.
const (
	MaxKey      = 1024    // bytes of a partition key, and of a sort key
	MaxItem     = 400_000 // bytes of an item, by DynamoDB's rules
	MaxTransact = 100     // writes in a transaction
	MaxPage     = 10_000  // items in a page of a query

	maxTransactBytes = 4 << 20  // of all items in a transaction
	pageBytes        = 1 << 20  // read for one page of a query
	skipInPage       = 200      // skipped items that a query reads together with the page
	batchGet         = 100      // keys in one round trip
	batchGetBytes    = 16 << 20 // of all items in one round trip
	batchWrite       = 25       // writes in one round trip
)

// checkKey returns an error for a key that one of the engines cannot store.
func checkKey(k Key) error {
	if err := checkKeyPart("partition", k.PK); err != nil {
		return err
	}
	return checkKeyPart("sort", k.SK)
}

// checkKeyPart returns an error for an empty, too long or non-UTF-8 key.
func checkKeyPart(which, s string) error {
	if s == "" || len(s) > MaxKey {
		return fault.New(fault.Invalid, "the %s key %.40q has %d bytes; 1 to %d are allowed", which, s, len(s), MaxKey)
	}
	if !utf8.ValidString(s) {
		return fault.New(fault.Invalid, "the %s key %.40q is not UTF-8", which, s)
	}
	return nil
}

// checkItem returns the size of an item. It returns an error if the item is too large, or if its data is not a JSON
// object.
func checkItem(it Item) (int, error) {
	if len(it.Data) == 0 {
		return itemSize(it, 0)
	}
	n, err := checkData(it.Data)
	if err != nil {
		return 0, fault.Wrap("write "+it.PK+" "+it.SK, err)
	}
	return itemSize(it, n)
}

// The bytes of the names and values of attributes that are not data.
const (
	keyOverhead    = 4  // "pk" and "sk"
	expiryOverhead = 13 // "expires" and a number of ten digits
)

// itemSize returns the size of an item with n bytes of data.
func itemSize(it Item, n int) (int, error) {
	n += len(it.PK) + len(it.SK) + keyOverhead
	if !it.Expires.IsZero() {
		n += expiryOverhead
	}
	if n > MaxItem {
		return 0, fault.New(
			fault.Invalid, "the item %.80s %.80s has %d bytes; %d are allowed", it.PK, it.SK, n, MaxItem)
	}
	return n, nil
}

// checkWrite returns the size of a write in bytes, or an error if one of the engines cannot do it.
func checkWrite(w Write) (int, error) {
	if err := checkKey(w.Item.Key); err != nil {
		return 0, err
	}
	for i := range w.If {
		if err := checkCond(&w.If[i]); err != nil {
			return 0, err
		}
	}
	switch w.Verb {
	case PutVerb:
		return checkItem(w.Item)
	case UpdateVerb:
		return checkChanges(w.Changes)
	case CheckVerb:
		if len(w.If) == 0 {
			return 0, fault.New(fault.Invalid, "a check of %s %s demands nothing", w.Item.PK, w.Item.SK)
		}
		return 0, nil
	case DeleteVerb:
		return 0, nil
	default:
		return 0, fault.New(fault.Invalid, "%d is no verb of a write", w.Verb)
	}
}

// checkSingle returns an error for a write that is only valid in a transaction.
func checkSingle(w Write) error {
	if w.Verb == CheckVerb {
		return fault.New(fault.Invalid, "a check belongs in a transaction")
	}
	_, err := checkWrite(w)
	return err
}

// checkCond returns an error for an invalid condition.
func checkCond(c *Cond) error {
	switch c.Op {
	case AbsentOp, ExistsOp:
		return nil
	case AnyOp:
		return checkAny(c.Any)
	default:
		return checkFieldCond(c)
	}
}

// checkFieldCond returns an error for an invalid condition on a field.
func checkFieldCond(c *Cond) error {
	if c.Op == 0 || c.Op > AnyOp {
		return fault.New(fault.Invalid, "%d is no condition", c.Op)
	}
	if c.Field == "" {
		return fault.New(fault.Invalid, "a condition names no field")
	}
	if c.Op == HasOp || c.Op == LacksOp {
		return nil
	}
	raw, err := encodeOperand(c.Value)
	if err != nil {
		return err
	}
	if c.Op >= LessOp && raw[0] != '"' && !isNumber(raw) {
		return fault.New(fault.Invalid, "field %s cannot be ordered against %s", c.Field, raw)
	}
	return nil
}

// checkAny returns an error for an AnyOp without valid conditions.
func checkAny(conds []Cond) error {
	if len(conds) == 0 {
		return fault.New(fault.Invalid, "Any has no conditions to choose from")
	}
	for i := range conds {
		if err := checkCond(&conds[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkChanges returns the size of changes in bytes. It returns an error for invalid changes, and for two changes of
// the same field.
func checkChanges(changes []Change) (int, error) {
	if len(changes) == 0 {
		return 0, fault.New(fault.Invalid, "an update changes nothing")
	}
	size, seen := 0, make(map[string]bool, len(changes))
	for i := range changes {
		c := &changes[i]
		n, err := checkChange(c)
		if err != nil {
			return 0, err
		}
		if seen[c.Field] {
			return 0, fault.New(fault.Invalid, "an update changes the field %q twice", c.Field)
		}
		seen[c.Field] = true
		size += n + len(c.Field)
	}
	return size, nil
}

// checkChange checks one change. An expiry has no field, so its name is "".
func checkChange(c *Change) (int, error) {
	if c.Op == ExpireOp {
		if _, ok := c.Value.(time.Time); !ok {
			return 0, fault.New(fault.Invalid, "an expiry cannot be a %T; use a time.Time", c.Value)
		}
		return expiryOverhead, nil
	}
	if c.Field == "" || len(c.Field) > maxName {
		return 0, fault.New(
			fault.Invalid, "a change names a field of %d bytes; 1 to %d are allowed", len(c.Field), maxName)
	}
	switch c.Op {
	case SetOp, SetOnceOp:
		raw, err := encodeValue(c)
		if err != nil {
			return 0, err
		}
		s := scanner{data: raw}
		return s.skipValue(1)
	case AddOp:
		_, err := parseIncrement(c)
		return maxDigits/2 + 1, err
	case RemoveOp:
		return 0, nil
	default:
		return 0, fault.New(fault.Invalid, "%d is no change", c.Op)
	}
}

// checkTransact returns an error for a transaction that is empty, too large, or writes a key twice.
func checkTransact(ws []Write) error {
	if len(ws) == 0 || len(ws) > MaxTransact {
		return fault.New(fault.Invalid, "a transaction has %d writes; 1 to %d are allowed", len(ws), MaxTransact)
	}
	size, err := checkWrites(ws)
	if err != nil {
		return err
	}
	return checkTransactBytes(size)
}

// checkTransactBytes returns an error for a transaction whose items are too large together. Changed items count with
// their stored size.
func checkTransactBytes(sizes ...int) error {
	size := 0
	for _, n := range sizes {
		size += n
	}
	if size > maxTransactBytes {
		return fault.New(fault.Invalid, "a transaction has %d bytes; %d are allowed", size, maxTransactBytes)
	}
	return nil
}

// checkBatch returns an error for conditions, updates, and a key that is written twice.
func checkBatch(ws []Write) error {
	for i := range ws {
		if w := &ws[i]; w.Verb != PutVerb && w.Verb != DeleteVerb || len(w.If) > 0 {
			return fault.New(fault.Invalid, "write %d of a batch is not an unconditional put or delete", i)
		}
	}
	_, err := checkWrites(ws)
	return err
}

// checkWrites checks each write, and that no key occurs twice. It returns the size in bytes.
func checkWrites(ws []Write) (int, error) {
	size, seen := 0, make(map[Key]struct{}, len(ws))
	for i := range ws {
		n, err := checkWrite(ws[i])
		if err != nil {
			return 0, err
		}
		size += n
		seen[ws[i].Item.Key] = struct{}{}
		if len(seen) <= i {
			return 0, fault.New(
				fault.Invalid, "write %d has the key %s %s of an earlier one", i, ws[i].Item.PK, ws[i].Item.SK)
		}
	}
	return size, nil
}

// checkQuery returns an error for an invalid query.
func checkQuery(q Query) error {
	if err := checkKeyPart("partition", q.PK); err != nil {
		return err
	}
	if q.Prefix != "" && (q.From != "" || q.To != "") {
		return fault.New(fault.Invalid, "a query has both a prefix and a range")
	}
	for _, s := range []string{q.Prefix, q.From, q.To} {
		if len(s) > MaxKey || !utf8.ValidString(s) {
			return fault.New(fault.Invalid, "a query's bound %.40q is longer than %d bytes or not UTF-8", s, MaxKey)
		}
	}
	if q.Limit < 1 || q.Limit > MaxPage {
		return fault.New(fault.Invalid, "a query's limit is %d; 1 to %d are allowed", q.Limit, MaxPage)
	}
	if q.Skip < 0 {
		return fault.New(fault.Invalid, "a query skips %d items", q.Skip)
	}
	return nil
}

// countsSkipped reports whether the query skips so many items that separate calls, which only count, are cheaper than
// reading them with the page.
func (q Query) countsSkipped() bool { return q.Skip > skipInPage }

// pageLimit returns how many items the call for the page may read.
func (q Query) pageLimit() int {
	if q.countsSkipped() {
		return q.Limit
	}
	return q.Skip + q.Limit
}

// isEmptyRange reports whether the query's range cannot contain a sort key.
func (q Query) isEmptyRange() bool { return q.From != "" && q.To != "" && q.From > q.To }

// isOutbox reports whether Feed delivers puts into the partition.
func isOutbox(pk string) bool { return strings.HasSuffix(pk, OutboxSuffix) }
