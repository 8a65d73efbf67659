package table

import (
	"encoding/json"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// applyChanges applies changes to the item that was found, and returns the resulting item.
func (r *row) applyChanges(k Key, changes []Change) (Item, error) {
	fs, err := r.parseFields()
	if err != nil {
		return Item{}, err
	}
	fs = append(fields(nil), fs...)
	it := Item{Key: k, Expires: r.expires}
	for i := range changes {
		if err := fs.applyChange(&it, &changes[i]); err != nil {
			return Item{}, err
		}
	}
	it.Data = fs.encodeObject()
	return it, nil
}

// applyChange applies one change to the fields, or to the item's expiry.
func (fs *fields) applyChange(it *Item, c *Change) error {
	switch c.Op {
	case ExpireOp:
		at, _ := c.Value.(time.Time)
		it.Expires = wholeSeconds(at)
		return nil
	case RemoveOp:
		fs.remove(c.Field)
		return nil
	case AddOp:
		return fs.addToField(c)
	default:
		return fs.assignField(c)
	}
}

// assignField sets a field; SetOnceOp only sets an absent one.
func (fs *fields) assignField(c *Change) error {
	if _, has := fs.get(c.Field); has && c.Op == SetOnceOp {
		return nil
	}
	raw, err := encodeValue(c)
	if err != nil {
		return err
	}
	fs.set(c.Field, raw)
	return nil
}

// addToField adds to a number field.
func (fs *fields) addToField(c *Change) error {
	n, err := parseIncrement(c)
	if err != nil {
		return err
	}
	old, has := fs.get(c.Field)
	if !has {
		old = []byte{'0'}
	}
	sum, err := addNumber(old, n)
	if err != nil {
		return fault.Wrap("change field "+c.Field, err)
	}
	fs.set(c.Field, sum)
	return nil
}

// parseIncrement returns the number of an AddOp.
func parseIncrement(c *Change) (int64, error) {
	switch n := c.Value.(type) {
	case int64:
		return n, nil
	case int:
		return int64(n), nil
	default:
		return 0, fault.New(fault.Invalid, "field %s cannot grow by a %T; use an int64", c.Field, c.Value)
	}
}

// encodeValue returns a change's value as JSON.
func encodeValue(c *Change) ([]byte, error) {
	raw, err := json.Marshal(c.Value)
	if err != nil {
		return nil, fault.NewWithCause(fault.Invalid, err, "field %s cannot hold a %T", c.Field, c.Value)
	}
	return raw, nil
}

// wholeSeconds rounds a time up to whole seconds, as expiries are stored. The zero time stays.
func wholeSeconds(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(expirySeconds(t), 0).UTC()
}

// expirySeconds returns t in Unix seconds, rounded up so that no item expires early; 0 means never.
func expirySeconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	s := t.Unix()
	if t.Nanosecond() > 0 {
		s++
	}
	return max(s, 1)
}
