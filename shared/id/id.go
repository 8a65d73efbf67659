// Package id makes the identifiers of the service's records: a prefix that names the kind, and a ULID in lower case,
// so that ids of one kind sort by the time they were made.
package id

import (
	"crypto/rand"
	"regexp"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
)

// New makes an id of the kind prefix ("act", "ca", …) at the time at: "act_01k…".
func New(prefix string, at time.Time) string {
	return prefix + "_" + strings.ToLower(ulid.MustNew(ulid.Timestamp(at), rand.Reader).String())
}

var form = regexp.MustCompile(`^[a-z]{2,5}_[0-9a-hjkmnp-tv-z]{26}$`)

// Valid tells whether s can be an id of the kind prefix. What cannot be one needs no look-up.
func Valid(prefix, s string) bool {
	return strings.HasPrefix(s, prefix+"_") && form.MatchString(s)
}

// Time tells when an id was made; the zero time when s is none.
func Time(s string) time.Time {
	_, tail, _ := strings.Cut(s, "_")
	u, err := ulid.ParseStrict(strings.ToUpper(tail))
	if err != nil {
		return time.Time{}
	}
	return ulid.Time(u.Time()).UTC()
}

// Floor is the lowest id of the kind prefix that can have been made at or after at: a bound for queries by time.
func Floor(prefix string, at time.Time) string {
	var u ulid.ULID
	if err := u.SetTime(ulid.Timestamp(at)); err != nil {
		return prefix + "_~" // after the year 10889: after every id
	}
	return prefix + "_" + strings.ToLower(u.String())
}
