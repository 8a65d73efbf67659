package remediating

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/measurement"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/fault"
)

// conditions compiles conditions. It is made when it is first needed: other work need not wait some milliseconds.
var conditions = sync.OnceValue(condition.NewCatalogue)

// connected is a change of a resource in a cloud.
type connected interface {
	connection() cloud.Conn
}

func (s *subject) connection() cloud.Conn { return s.conn }

// checkReason refuses a change whose reason no longer holds. It decides the rule's condition once more on the evidence
// of the recommendation, with the facts of the last discovery and the use up to this hour: since the evaluation, an
// idle resource may be in use again.
func (c *checker) checkReason(ctx context.Context, ch change, t *remediation.Target) error {
	row, r := c.rows[t.RecID], rule.ByID(t.RuleID)
	if len(row.Evidence.Values) == 0 || c.r.Rehearses {
		return nil // nothing was measured or read
	}
	values := maps.Clone(row.Evidence.Values)
	facts := c.records[t.ResourceUID].Facts
	for name := range values {
		if v, read := facts[name]; read {
			values[name] = v
		}
	}
	if of, is := ch.(connected); is {
		if err := c.addUse(ctx, of.connection(), t, values); err != nil {
			return err
		}
	}
	proof, err := conditions().Prove(r, condition.Evidence{
		Values: values, Thresholds: row.Evidence.Thresholds, At: c.now,
	})
	switch {
	case err != nil:
		return fault.New(fault.Conflict, "its condition cannot be checked again (%s): refresh the recommendations",
			fault.Message(err))
	case proof.Truth != condition.True:
		return fault.New(fault.Conflict, "its condition is %s now: %s", proof.Truth,
			changesOf(row.Evidence.Values, values))
	}
	return nil
}

// changesOf names the values that have changed.
func changesOf(before, now map[string]any) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(now)) {
		if was, is := shown(before[name]), shown(now[name]); was != is {
			out = append(out, fmt.Sprintf("%s was %s and is %s", name, was, is))
		}
	}
	if len(out) == 0 {
		return "time has passed since it was evaluated"
	}
	return strings.Join(out, ", ")
}

// shown formats a value of evidence: a number with four digits, a text in quotes.
func shown(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'g', 4, 64)
	case string:
		return strconv.Quote(v)
	}
	return fmt.Sprint(v)
}

// addUse replaces the measured metrics in values by those up to this hour.
func (c *checker) addUse(ctx context.Context, conn cloud.Conn, t *remediation.Target, values map[string]any) error {
	metrics := measuredAmong(t.ResourceType, values)
	meter, is := conn.(cloud.Metered)
	if !is || len(metrics) == 0 {
		return nil
	}
	until := c.now.Truncate(time.Hour)
	recent, err := readRecent(ctx, meter, t, metrics, until)
	if err != nil {
		return err
	}
	record := c.records[t.ResourceUID]
	w := measurement.Window{Since: record.Since()}
	for _, m := range metrics {
		v, known := recent.Answer(m, w)
		if known != measurement.Known {
			return fault.New(fault.Conflict, "its use up to %s cannot be read: %s has too few points; try again later",
				until.Format(time.RFC3339), m.Name)
		}
		values[m.Name] = v
	}
	return nil
}

// measuredAmong returns the metrics of a type that values has and hourly measures give.
func measuredAmong(kind string, values map[string]any) (out []cloud.Metric) {
	for _, m := range cloud.MetricsOf(kind) {
		if _, read := values[m.Name]; read {
			out = append(out, m)
		}
	}
	return out
}

// readRecent reads the measures of metrics of a target, in hours, over the longest of their windows.
func readRecent(ctx context.Context, meter cloud.Metered, t *remediation.Target, metrics []cloud.Metric,
	until time.Time,
) (*measurement.Recent, error) {
	r := cloud.NewMetricRequest(metrics, []string{t.ResourceUID}, until)
	r.Type, r.Region, r.Period = t.ResourceType, t.Region, time.Hour
	got, err := meter.Metrics(ctx, r)
	if err != nil {
		return nil, fmt.Errorf("read the use of %s: %w", t.ResourceUID, err)
	}
	recent := &measurement.Recent{}
	recent.Reset(until)
	got.EachRead(r, func(uid string, measure int, p cloud.Points) {
		m := r.Measures[measure]
		for day := until.AddDate(0, 0, -1); !day.Before(r.From); day = day.AddDate(0, 0, -1) {
			recent.Add(day, measurement.NewSeries(uid, m, day, p))
		}
	})
	return recent, nil
}
