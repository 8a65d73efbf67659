package recommender

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule/condition"
)

func TestSupportTable_IsWellFormed(t *testing.T) {
	_, lines, _ := strings.Cut(supportTable, "\n")
	n := 0
	for line := range strings.Lines(lines) {
		n++
		f := strings.Split(strings.TrimSpace(line), ";")
		_, endErr := time.Parse(time.DateOnly, f[2])
		if _, err := time.Parse(time.DateOnly, f[3]); err != nil || f[2] != "" && endErr != nil {
			t.Errorf("%q: %v, %v", line, err, endErr)
		}
	}
	if n != len(readSupport()) {
		t.Errorf("%d lines, %d versions: one is there twice", n, len(readSupport()))
	}
}

func TestSupportEnd_IsUnknownWhenTheTableIsStale(t *testing.T) {
	fresh := time.Date(2026, 3, 10, 0, 0, 0, 0, time.UTC)
	old := fresh.AddDate(3, 0, 0)
	for name, tt := range map[string]struct {
		version string
		now     time.Time
		want    string
		why     condition.Reason
	}{
		"a date that has passed":                  {"nodejs14.x", fresh, "2023-12-04", ""},
		"a date that had passed holds for good":   {"nodejs14.x", old, "2023-12-04", ""},
		"a date to come":                          {"python3.13", fresh, "2029-06-30", ""},
		"a date to come in a stale table":         {"python3.13", old, "", condition.Stale},
		"a version that the table does not have":  {"cobol", fresh, "", unknownValue},
		"a date between the check and the summer": {"nodejs20.x", fresh.AddDate(0, 6, 0), "2026-04-30", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := supportEnd("aws-lambda", tt.version, tt.now)
			end, _ := got.(time.Time)
			if why != tt.why || why == "" && end.Format(time.DateOnly) != tt.want {
				t.Errorf("%v, %q", got, why)
			}
		})
	}
	if got, why := supportEnd("gcp-cloudsql", "MYSQL_8_4", fresh); got != cloud.Never || why != "" {
		t.Errorf("a version without an end: %v, %q", got, why)
	}
}

func TestStandardSupportEnd_FollowsFromTheVersion(t *testing.T) {
	for name, tt := range map[string]struct {
		kind  string
		facts cloud.Facts
		want  any
		why   condition.Reason
	}{
		"a cache, by its major version": {
			"aws-elasticache", cloud.Facts{"engine": "redis", "engine_version": "5.0.6"}, dateOf("2026-01-31"), "",
		},
		"a cache of another engine": {
			"aws-elasticache", cloud.Facts{"engine": "valkey", "engine_version": "8.0"}, nil, unknownValue,
		},
		"a domain": {"aws-opensearch", cloud.Facts{"engine_version": "Elasticsearch_7.8"}, dateOf("2025-11-07"), ""},
		"a server": {
			"azure-postgresql-flexible", cloud.Facts{"engine_version": "12"}, dateOf("2026-07-31"), "",
		},
		"without a version": {"azure-postgresql-flexible", nil, nil, condition.NotReported},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSubjectOf(t, tt.kind, "", tt.facts)
			s.now = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
			if v, why := s.derived(t, "standard_support_end"); v != tt.want || why != tt.why {
				t.Errorf("%v (%q), want %v (%q)", v, why, tt.want, tt.why)
			}
		})
	}
}
