package billfile

import (
	"bytes"
	"hash/maphash"
	"strings"
	"time"
	"unicode/utf8"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
)

// The bounds of a cache: some MB for any file.
const (
	mostTexts     = 16 << 10 // a power of two
	longestCached = 256
	longestLooked = 16
	mostTags      = 4 << 10
	longestTags   = 2 << 10
)

// cache keeps converted values, because the values of a bill repeat often.
type cache struct {
	seed  maphash.Seed
	texts []string // indexed by hash; a new text replaces the one at its index
	tags  map[string][]bill.Tag
	// shares makes text put texts one after the other into memory that they share, without looking for equal ones. It
	// is set for blocks, whose users do not keep texts.
	shares bool
	shared strings.Builder
}

// sharedBytes is the size of the memory that texts share.
const sharedBytes = 64 << 10

// share returns b as a part of a longer text.
func (c *cache) share(b []byte) string {
	if isNull(b) || !utf8.Valid(b) || len(b) > sharedBytes {
		return plainText(b)
	}
	if c.shared.Cap()-c.shared.Len() < len(b) {
		c.shared = strings.Builder{}
		c.shared.Grow(sharedBytes)
	}
	from := c.shared.Len()
	_, _ = c.shared.Write(b) // it never fails
	return c.shared.String()[from:]
}

func newCache() *cache {
	return &cache{seed: maphash.MakeSeed(), texts: make([]string, mostTexts), tags: map[string][]bill.Tag{}}
}

// text returns b as a string. It returns the same string as before if that is in the cache.
func (c *cache) text(b []byte) string {
	if c.shares {
		return c.share(b)
	}
	if len(b) == 0 || len(b) > longestCached {
		return plainText(b)
	}
	at := &c.texts[maphash.Bytes(c.seed, b)%mostTexts]
	if *at != string(b) {
		*at = plainText(b)
	}
	return *at
}

// columnText is text for columns with a dictionary, whose values are converted only once. It does not look for a long
// value outside of a dictionary.
func (c *cache) columnText(b []byte) string {
	if len(b) > longestLooked {
		return plainText(b)
	}
	return c.text(b)
}

// plainText returns b as text: "" for NULL, with invalid UTF-8 replaced.
func plainText(b []byte) string {
	if isNull(b) {
		return ""
	}
	if utf8.Valid(b) {
		return string(b)
	}
	return strings.ToValidUTF8(string(b), "\uFFFD")
}

func (c *cache) tagsOf(b []byte) ([]bill.Tag, error) {
	if len(b) == 0 {
		return nil, nil
	}
	if found, ok := c.tags[string(b)]; ok {
		return found, nil
	}
	read, err := parseTags(b)
	if err != nil {
		return nil, err
	}
	return c.keepTags(b, read), nil
}

func (c *cache) keepTags(b []byte, read []bill.Tag) []bill.Tag {
	if len(c.tags) >= mostTags {
		clear(c.tags)
	}
	if len(b) <= longestTags {
		c.tags[string(b)] = read
	}
	return read
}

// layouts are the time formats of bills besides ISO 8601. A date with slashes has the month first, for vendors of all
// countries.
var layouts = []string{
	time.RFC3339Nano, "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 MST", "2006-01-02T15:04Z07:00",
	"2006-01-02T15:04",
	"1/2/2006", "1/2/06", "1/2/2006 15:04:05", "1/2/2006 15:04", "1/2/06 15:04", "1/2/2006 3:04:05 PM", "20060102",
	"200601",
}

// parseTime reads a time; without a zone it is UTC.
func parseTime(b []byte) (time.Time, error) {
	if len(b) == 0 {
		return time.Time{}, nil
	}
	if t, ok := parseISO(b); ok {
		return t, nil
	}
	s := string(bytes.TrimSpace(b))
	for _, l := range layouts {
		if t, err := time.ParseInLocation(l, s, time.UTC); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New(fault.Invalid, "%.40q is not a time; one looks like 2026-03-01T00:00:00Z", b)
}

// parseISO parses 2006-01-02, with T or a blank and 15:04:05, a fraction, and Z or no zone. Nearly all bills use this
// form; parseISO takes a tenth of the time of the time package.
func parseISO(b []byte) (time.Time, bool) {
	if len(b) < 10 || b[4] != '-' || b[7] != '-' {
		return time.Time{}, false
	}
	year, month, day := digits(b[:4]), digits(b[5:7]), digits(b[8:10])
	clock, nanos, ok := parseClock(b[10:])
	if !ok || year < 0 || month < 1 || month > 12 || day < 1 || day > 31 {
		return time.Time{}, false
	}
	t := time.Date(year, time.Month(month), day, 0, 0, clock, nanos, time.UTC)
	return t, t.Day() == day
}

// parseClock parses the part behind a date: nothing, or a time of day.
func parseClock(b []byte) (seconds, nanos int, ok bool) {
	if len(b) == 0 {
		return 0, 0, true
	}
	if len(b) < 9 || b[0] != 'T' && b[0] != ' ' || b[3] != ':' || b[6] != ':' {
		return 0, 0, false
	}
	hour, minute, second := digits(b[1:3]), digits(b[4:6]), digits(b[7:9])
	if min(hour, minute, second) < 0 || hour > 23 || max(minute, second) > 59 {
		return 0, 0, false
	}
	nanos, ok = parseFraction(bytes.TrimSuffix(b[9:], []byte("Z")))
	return hour*3600 + minute*60 + second, nanos, ok
}

func parseFraction(b []byte) (nanos int, ok bool) {
	if len(b) == 0 {
		return 0, true
	}
	if b[0] != '.' || len(b) < 2 || len(b) > 10 {
		return 0, false
	}
	nanos = digits(b[1:])
	for range 10 - len(b) {
		nanos *= 10
	}
	return nanos, nanos >= 0
}

// digits parses a number without a sign; it returns -1 for other text.
func digits(b []byte) int {
	n := 0
	for _, c := range b {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}
