// Package id makes the IDs of the service's records: a prefix that names the kind, and a ULID in lower case. IDs of one
// kind sort by creation time.
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

// New returns a new ID with the given prefix ("act", "ca", …) and time: "act_01k…".
func New(prefix string, at time.Time) string {
	return formatID(prefix, ulid.MustNew(ulid.Timestamp(at), rand.Reader))
}

// Derived returns the ID with the given prefix that belongs to name and to at, in milliseconds. Equal arguments give
// equal IDs, so a process that runs again finds the record it has already made.
func Derived(prefix string, at time.Time, name string) string {
	var u ulid.ULID
	sum := sha256.Sum256([]byte(name))
	if err := errors.Join(u.SetTime(ulid.Timestamp(at)), u.SetEntropy(sum[:len(u)-6])); err != nil {
		panic("id: " + err.Error()) // after the year 10889
	}
	return formatID(prefix, u)
}

// formatID formats an ID with one allocation, because every request and every record needs one.
func formatID(prefix string, u ulid.ULID) string {
	b := make([]byte, len(prefix)+1+ulid.EncodedSize)
	b[copy(b, prefix)] = '_'
	text := b[len(prefix)+1:]
	_ = u.MarshalTextTo(text) // fails for another length only
	for i, c := range text {
		if c >= 'A' { // all others are digits
			text[i] = c | 0x20
		}
	}
	return string(b)
}

var idPattern = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}$`)

// IsValid reports whether s has the form of an ID with the given prefix. Callers need not look up any other text.
func IsValid(prefix, s string) bool {
	return strings.HasPrefix(s, prefix+"_") && idPattern.MatchString(s)
}

// TimeOf returns the creation time of the ID s, or the zero time if s is no ID.
func TimeOf(s string) time.Time {
	_, tail, _ := strings.Cut(s, "_")
	u, err := ulid.ParseStrict(strings.ToUpper(tail))
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(u.Time()).UTC()
}

// LowestAt returns the lowest ID with the given prefix that can have been made at or after the time at. Queries by time
// use it as a bound.
func LowestAt(prefix string, at time.Time) string {
	var u ulid.ULID
	if err := u.SetTime(ulid.Timestamp(at)); err != nil {
		return prefix + "_~" // after the year 10889: after every id
	}
	return formatID(prefix, u)
}
