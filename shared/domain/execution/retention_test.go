package execution

import (
	"testing"
	"time"
)

func TestRetention_EndsWholeMonthsAtOnce(t *testing.T) {
	date := func(s string) time.Time {
		at, err := time.Parse(time.RFC3339Nano, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	for name, c := range map[string]struct {
		keep Retention
		made string
		ends string
	}{
		"13 months unless the organization says otherwise": {0, "2026-03-15T12:00:00Z", "2027-05-01T00:00:00Z"},
		"the first moment of a month":                      {13, "2026-03-01T00:00:00Z", "2027-05-01T00:00:00Z"},
		"its last":                                         {13, "2026-03-31T23:59:59.999Z", "2027-05-01T00:00:00Z"},
		"a month that has fewer days than the day":         {1, "2026-01-31T10:00:00Z", "2026-03-01T00:00:00Z"},
		"over the turn of a year":                          {1, "2026-12-31T10:00:00Z", "2027-02-01T00:00:00Z"},
		"ten years":                                        {120, "2026-02-10T10:00:00Z", "2036-03-01T00:00:00Z"},
		"by the months of UTC":                             {13, "2026-04-01T01:00:00+02:00", "2027-05-01T00:00:00Z"},
	} {
		if got := c.keep.Until(date(c.made)); !got.Equal(date(c.ends)) || got.Location() != time.UTC {
			t.Errorf("%s: %s, want %s", name, got, c.ends)
		}
	}
}
