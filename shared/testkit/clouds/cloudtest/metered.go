package cloudtest

import (
	"errors"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
)

// Metered are resources with metrics, for the contract of cloud.Metered: of one type in one region.
type Metered struct {
	Kind, Region string
	Measured     []string // uids that have points all day, at least of one measure, but for the hour of Gap
	Quiet        []string // uids that exist and have no points
	Missing      string   // a well-formed uid without a resource
	Many         []string // uids for more than one call; may be of resources without points
	// how many of them the provider's calls tell of at the least, each measure by itself where it counts those
	PerCall    int
	Start      time.Time     // the first moment of the day
	Gap        time.Duration // after Start begins an hour without points; 0 is none
	Calls      func() int    // how many calls for metrics the cloud has seen; nil where it does not count them
	Unmeasured string        // a type that has no metrics
	Free       bool          // the provider takes no money for metrics
	Deny       func(on bool) // takes the permission away, or gives it back; nil leaves the case out
}

// runMetered tests a connection against the contract of cloud.Metered.
func (r run) runMetered(t *testing.T) {
	m, is := r.conn.(cloud.Metered)
	if !is {
		t.Fatal("the fixture has measured resources, and the connection is not Metered")
	}
	for _, f := range r.f.Metered {
		t.Run(f.Kind, metering{m, f}.runAll)
	}
}

type metering struct {
	conn cloud.Metered
	Metered
}

func (m metering) runAll(t *testing.T) {
	t.Run("points are of those that were asked for", m.askedOnly)
	t.Run("points begin in the window", m.window)
	t.Run("a gap is no point, and not a zero", m.gap)
	t.Run("a resource that does not exist has no points", m.missing)
	t.Run("calls are few, and counted", m.countCalls)
	t.Run("a type without metrics is unsupported", m.unmeasured)
	t.Run("a denied request is class Denied", m.denied)
}

func (m metering) requestFor(uids ...string) cloud.MetricRequest {
	return cloud.MetricRequest{
		Type: m.Kind, Region: m.Region, UIDs: uids, Measures: cloud.MeasuresOf(m.Kind), Period: time.Hour,
		From: m.Start, To: m.Start.AddDate(0, 0, 1),
	}
}

func (m metering) askMetrics(t *testing.T, r cloud.MetricRequest) cloud.MetricAnswer {
	t.Helper()
	got, err := m.conn.Metrics(t.Context(), r)
	if err != nil {
		t.Fatalf("Metrics of %d %s: %v", len(r.UIDs), r.Type, err)
	}
	for _, p := range got.Points {
		if !slices.Contains(r.UIDs, p.UID) || p.Measure < 0 || p.Measure >= len(r.Measures) || len(p.Times) == 0 ||
			len(p.Times) != len(p.Values) {
			t.Errorf("points %+v: of nothing that was asked for, or none, or not as many as times", p)
		}
	}
	return got
}

func (m metering) askedOnly(t *testing.T) {
	got := m.askMetrics(t, m.requestFor(m.Measured[0]))
	if len(got.Points) == 0 || got.Calls < 1 || got.Queries < 1 || (got.USD <= 0) != m.Free {
		t.Errorf("%+v; want points, and their calls and price", got)
	}
	quiet := m.askMetrics(t, m.requestFor(m.Quiet...))
	if len(quiet.Points) != 0 {
		t.Errorf("%+v of an unused resource", quiet.Points)
	}
	if none := m.askMetrics(t, m.requestFor()); none.Calls != 0 || len(none.Points) != 0 {
		t.Errorf("%+v when nothing is asked for", none)
	}
}

func (m metering) window(t *testing.T) {
	r := m.requestFor(m.Measured[0])
	r.From, r.To = m.Start.Add(6*time.Hour), m.Start.Add(9*time.Hour)
	got := m.askMetrics(t, r)
	for _, p := range got.Points {
		for i, at := range p.Times {
			if at.Before(r.From) || !at.Before(r.To) || !at.Equal(at.Truncate(r.Period)) || i > 0 &&
				!at.After(p.Times[i-1]) {
				t.Errorf("times %v; want hours from %s until before %s, in their order", p.Times, r.From, r.To)
			}
		}
	}
	if !slices.ContainsFunc(got.Points, func(p cloud.Points) bool { return len(p.Times) == 3 }) {
		t.Errorf("%+v; want the first and the last hour of three among them", got.Points)
	}
}

func (m metering) gap(t *testing.T) {
	if m.Gap == 0 {
		t.Skip("SKIPPED: this cloud has no gaps")
	}
	for _, p := range m.askMetrics(t, m.requestFor(m.Measured[0])).Points {
		if i := slices.Index(p.Times, m.Start.Add(m.Gap)); i >= 0 {
			t.Errorf("the hour without points is %g", p.Values[i])
		}
	}
}

func (m metering) missing(t *testing.T) {
	got := m.askMetrics(t, m.requestFor(m.Missing, m.Measured[0]))
	if slices.ContainsFunc(got.Points, func(p cloud.Points) bool { return p.UID == m.Missing }) {
		t.Errorf("points of %s, which does not exist", m.Missing)
	}
	if len(got.Points) == 0 {
		t.Error("a resource that does not exist keeps the points of the others back")
	}
}

func (m metering) countCalls(t *testing.T) {
	before := 0
	if m.Calls != nil {
		before = m.Calls()
	}
	r := m.requestFor(m.Many...)
	got := m.askMetrics(t, r)
	if m.Calls != nil && m.Calls()-before != got.Calls {
		t.Errorf("%d calls are told of %d", got.Calls, m.Calls()-before)
	}
	if most := len(r.Measures) + len(m.Many)*len(r.Measures)/m.PerCall + 1; got.Calls < 1 || got.Calls > most {
		t.Errorf("%d calls for %d resources with %d measures; want %d at most", got.Calls, len(m.Many), len(r.Measures),
			most)
	}
}

func (m metering) unmeasured(t *testing.T) {
	r := m.requestFor(m.Measured[0])
	r.Type, r.Measures = m.Unmeasured, nil
	got, err := m.conn.Metrics(t.Context(), r)
	if err == nil && (got.Calls != 0 || len(got.Points) != 0) {
		t.Errorf("%+v of %s", got, m.Unmeasured)
	}
	if e, ok := errors.AsType[*cloud.Error](err); err != nil && (!ok || e.Class.Retryable()) {
		t.Errorf("%v of %s; want that it is never measured", err, m.Unmeasured)
	}
}

func (m metering) denied(t *testing.T) {
	if m.Deny == nil {
		t.Skip("SKIPPED: this cloud cannot be made to deny")
	}
	m.Deny(true)
	defer m.Deny(false)
	_, err := m.conn.Metrics(t.Context(), m.requestFor(m.Measured[0]))
	wantClass(t, "Metrics without permission", err, cloud.Denied)
}
