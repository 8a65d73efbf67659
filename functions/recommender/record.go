package recommender

import (
	"hash/fnv"
	"strconv"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/engine/table"
)

// record is the stored record of a resource, without its facts: package condition reads them. Content is a hash of
// them.
type record struct {
	inventory.Resource
	Content content `json:"facts"`
}

// content is a hash of a JSON value.
type content uint32

// UnmarshalJSON hashes the value.
func (c *content) UnmarshalJSON(b []byte) error {
	h := fnv.New32a()
	_, _ = h.Write(b) // never fails
	*c = content(h.Sum32())
	return nil
}

// readRecord decodes a stored record. A record in the form that the inventory writes takes a third of the time of
// encoding/json. Records in other forms are left to encoding/json.
func readRecord(it table.Item) (record, error) {
	r := recordReader{plain: true}
	if err := condition.EachMember(it.Data, r.read); err != nil || !r.plain {
		return table.Decode[record](it)
	}
	return r.record, nil
}

// recordReader collects the members of a record. Plain is false after a value that needs encoding/json.
type recordReader struct {
	record
	plain bool
}

// read reads a member. Others than those of a record are left out.
func (r *recordReader) read(key, value []byte) {
	if to := r.textOf(string(key)); to != nil {
		*to = r.text(value)
		return
	}
	switch string(key) {
	case "status":
		r.Status = cloud.Status(r.text(value))
	case "actionType":
		r.ActionType = cloud.Verb(r.text(value))
	case "statusAt":
		r.StatusAt = r.whole(value)
	case "tags":
		r.Tags = map[string]string{}
		r.each(value, func(k string, v []byte) { r.Tags[k] = r.text(v) })
	case "capacity":
		r.Capacity = map[string]int64{}
		r.each(value, func(k string, v []byte) { r.Capacity[k] = r.whole(v) })
	case "discoveredAt":
		r.DiscoveredAt = r.time(value)
	case "lastSeenAt":
		r.LastSeenAt = r.time(value)
	case "createdAt":
		r.CreatedAt = r.time(value)
	case "facts":
		_ = r.Content.UnmarshalJSON(value) // never fails
	}
}

// texts are the members that hold texts, and their fields. A map of functions, because a switch over so many names is
// hard to follow.
var texts = map[string]func(*recordReader) *string{
	"id": func(r *recordReader) *string { return &r.ID }, "uid": func(r *recordReader) *string { return &r.UID },
	"name": func(r *recordReader) *string { return &r.Name }, "type": func(r *recordReader) *string { return &r.Type },
	"provider":       func(r *recordReader) *string { return &r.Provider },
	"cloudAccountID": func(r *recordReader) *string { return &r.CloudAccountID },
	"region":         func(r *recordReader) *string { return &r.Region },
	"zone":           func(r *recordReader) *string { return &r.Zone },
	"instanceType":   func(r *recordReader) *string { return &r.InstanceType },
	"parentUID":      func(r *recordReader) *string { return &r.ParentUID },
	"unschedulable":  func(r *recordReader) *string { return &r.Unschedulable },
	"actionID":       func(r *recordReader) *string { return &r.ActionID },
	"scan":           func(r *recordReader) *string { return &r.Scan },
}

// textOf returns the field of a member that holds a text, or nil.
func (r *recordReader) textOf(key string) *string {
	if field := texts[key]; field != nil {
		return field(r)
	}
	return nil
}

// each reads the members of an object.
func (r *recordReader) each(value []byte, f func(key string, value []byte)) {
	if condition.EachMember(value, func(key, v []byte) {
		r.plain = r.plain && utf8.Valid(key)
		f(string(key), v)
	}) != nil {
		r.plain = false
	}
}

// text reads a text without escapes.
func (r *recordReader) text(value []byte) string {
	if len(value) < 2 || value[0] != '"' || !isPlain(value) {
		r.plain = false
		return ""
	}
	return string(value[1 : len(value)-1])
}

// isPlain reports whether a text has no escapes and no bytes that encoding/json refuses or replaces.
func isPlain(text []byte) bool {
	ascii := true
	for _, c := range text {
		if c == '\\' || c < ' ' {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	return ascii || utf8.Valid(text)
}

// whole reads a whole number.
func (r *recordReader) whole(value []byte) int64 {
	n, err := strconv.ParseInt(string(value), 10, 64)
	r.plain = r.plain && err == nil && value[0] != '+'
	return n
}

// time reads a time.
func (r *recordReader) time(value []byte) (at time.Time) {
	r.plain = r.plain && at.UnmarshalJSON(value) == nil
	return at
}
