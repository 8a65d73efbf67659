package recommender

import (
	_ "embed"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule/condition"
)

// supportTable has the dates on which the providers end the support of versions, as of the day on which a row was
// checked. An empty date means that the provider has announced none. Sources: the pages "Lambda runtimes" of AWS and
// "Database version policies" of Cloud SQL, AWS's announcements of extended support of ElastiCache for Redis and of
// OpenSearch Service, and the version policy of Azure Database for PostgreSQL, read through endoflife.date and copies
// of these pages.
//
//go:embed support.csv
var supportTable string

// supportChecked is how long a row of the table holds after it was checked. Providers announce an end a year ahead and
// sometimes move it; after this time a date that is still to come is unknown.
const supportChecked = 365 * 24 * time.Hour

// supportRow is a row of the table.
type supportRow struct{ end, checked time.Time }

// readSupport reads the table when it is first needed, by table and version.
var readSupport = sync.OnceValue(func() map[[2]string]supportRow {
	out := map[[2]string]supportRow{}
	_, lines, _ := strings.Cut(supportTable, "\n") // behind the header
	for line := range strings.Lines(lines) {
		f := strings.Split(strings.TrimSpace(line), ";")
		row := supportRow{end: cloud.Never, checked: dateOf(f[3])}
		if f[2] != "" {
			row.end = dateOf(f[2])
		}
		out[[2]string{f[0], f[1]}] = row
	}
	return out
})

// dateOf parses a date; that each is well-formed is for a test.
func dateOf(s string) time.Time {
	t, _ := time.Parse(time.DateOnly, s)
	return t
}

// supportEnd returns the date on which the support of a version ends, cloud.Never if the provider has announced none.
// It returns a reason for a version that the table does not have. A date that has passed holds for good; a later one
// is unknown once its row is stale, because the provider may have moved it.
func supportEnd(table, version string, now time.Time) (any, condition.Reason) {
	row, known := readSupport()[[2]string{table, version}]
	switch {
	case !known:
		return nil, unknownValue
	case row.end.Before(row.checked):
		return row.end, ""
	case now.Sub(row.checked) > supportChecked:
		return nil, condition.Stale
	}
	return row.end, ""
}

// standardSupportEnd returns the date on which the standard support of an engine's version ends.
func (s *subject) standardSupportEnd() (any, condition.Reason) {
	version, read := s.facts.Value("engine_version").(string)
	if !read {
		return nil, condition.NotReported
	}
	if s.Type == "aws-elasticache" {
		engine, _ := s.facts.Value("engine").(string)
		major, _, _ := strings.Cut(version, ".")
		version = engine + major
	}
	return supportEnd(s.Type, version, s.now)
}
