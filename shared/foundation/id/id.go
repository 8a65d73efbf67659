// Package id makes the identifiers of the service's records: a prefix that names the kind, and a ULID in lower case,
// so that ids of one kind sort by the time they were made.
package id

import (
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// New makes an id of the kind prefix ("act", "ca", …) at the time at: "act_01k…".
func New(prefix string, at time.Time) string {
	return spell(prefix, ulid.MustNew(ulid.Timestamp(at), rand.Reader))
}

// Derived makes the id of the kind prefix that always belongs to name at the time at, to the millisecond: whoever makes it, and
// however often, for what must be begun once.
func Derived(prefix string, at time.Time, name string) string {
	var u ulid.ULID
	sum := sha256.Sum256([]byte(name))
	if err := errors.Join(u.SetTime(ulid.Timestamp(at)), u.SetEntropy(sum[:len(u)-6])); err != nil {
		panic("id: " + err.Error()) // after the year 10889
	}
	return spell(prefix, u)
}

// spell writes an id in one go: each request makes one, and each record.
func spell(prefix string, u ulid.ULID) string {
	b := make([]byte, len(prefix)+1+ulid.EncodedSize)
	b[copy(b, prefix)] = '_'
	text := b[len(prefix)+1:]
	_ = u.MarshalTextTo(text) // fails for another length only
	for i, c := range text {
		if c >= 'A' { // there are digits and capitals
			text[i] = c | 0x20
		}
	}
	return string(b)
}

var form = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}$`)

// IsValid reports whether s can be an id of the kind prefix. What cannot be one needs no look-up.
func IsValid(prefix, s string) bool {
	return strings.HasPrefix(s, prefix+"_") && form.MatchString(s)
}

// TimeOf returns when an id was made; the zero time when s is none.
func TimeOf(s string) time.Time {
	_, tail, _ := strings.Cut(s, "_")
	u, err := ulid.ParseStrict(strings.ToUpper(tail))
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(u.Time()).UTC()
}

// LowestAt returns the lowest id of the kind prefix that can have been made at or after at: a bound for queries by time.
func LowestAt(prefix string, at time.Time) string {
	var u ulid.ULID
	if err := u.SetTime(ulid.Timestamp(at)); err != nil {
		return prefix + "_~" // after the year 10889: after every id
	}
	return spell(prefix, u)
}
