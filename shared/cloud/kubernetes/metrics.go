package kubernetes

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

// The bounds of a query: Prometheus refuses more than 11,000 points of a series, and the others keep an answer below
// maxAnswer and the address of a query below the limits of proxies.
const (
	maxSeriesPoints   = 10_000
	maxQueryPoints    = 300_000
	maxQuerySeries    = 500
	maxNamespaceBytes = 500
	maxQueryAddress   = 16 << 10
	parallelQueries   = 4
)

var _ cloud.Metered = (*conn)(nil)

// Metrics asks the cluster's Prometheus. One query returns a measure of all objects of a type in some namespaces.
func (c *conn) Metrics(ctx context.Context, r cloud.MetricRequest) (cloud.MetricAnswer, error) {
	of, known := promTypes[r.Type]
	switch {
	case !known:
		return cloud.MetricAnswer{}, cloud.ErrUnsupported("Kubernetes has no metrics of %.64q that are read", r.Type)
	case r.Region != c.region:
		return cloud.MetricAnswer{}, cloud.ErrInvalid("the region of this cluster is %s, not %.64q", c.region, r.Region)
	case len(r.UIDs) == 0 || len(r.Measures) == 0:
		return cloud.MetricAnswer{}, nil
	}
	id, err := c.clusterUID(ctx)
	if err != nil {
		return cloud.MetricAnswer{}, err
	}
	server, err := c.prometheus(ctx)
	if err != nil {
		return cloud.MetricAnswer{}, err
	}
	m := &promReading{server: server, request: r, objects: objectsOf(id, of.resource, r.UIDs)}
	if err = m.readAll(ctx); err != nil {
		return cloud.MetricAnswer{}, err
	}
	return m.answer, nil
}

// promName is a name that may stand in a query as it is.
var promName = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9._:-]*[A-Za-z0-9])?$`)

// objectsOf returns the uids by the labels of their series. An object of another cluster is not among them.
func objectsOf(id, resource string, uids []string) map[ref]string {
	out := make(map[ref]string, len(uids))
	for _, uid := range uids {
		f := strings.Split(uid, "/")
		at, ok := parseUID(id, resource, uid)
		switch {
		case ok && resource == namespacesOf.Resource:
			at = ref{at.name, ""}
		case ok:
		case len(f) == 4 && f[0] == id && f[1] == "" && f[2] == resource: // a node or the cluster itself
			at = ref{name: f[3]}
		default:
			continue
		}
		if at.ns == "" || promName.MatchString(at.ns) {
			out[at] = uid
		}
	}
	return out
}

// promReading reads the measures of a request.
type promReading struct {
	server  *promServer
	request cloud.MetricRequest
	objects map[ref]string
	byName  bool
	answer  cloud.MetricAnswer
}

// promTask is one measure of the objects in some namespaces.
type promTask struct {
	measure int
	scope   promScope
	uids    []string
}

// readAll asks whether there is a kube-state-metrics, and reads all measures. A query that is refused leaves its
// measure unread. An error may pass.
func (m *promReading) readAll(ctx context.Context) error {
	if err := m.findOwners(ctx); err != nil {
		return err
	}
	tasks := m.tasks()
	results, errs := make([]promOutcome, len(tasks)), make([]error, len(tasks))
	cloud.InParallel(len(tasks), parallelQueries, func(i int) { results[i], errs[i] = m.read(ctx, tasks[i]) })
	for i, err := range errs {
		m.answer.Calls, m.answer.Queries = m.answer.Calls+results[i].calls, m.answer.Queries+results[i].calls
		switch {
		case err == nil:
			m.answer.Points = append(m.answer.Points, results[i].points...)
		case ctx.Err() != nil || mayPass(err):
			return err
		default:
			m.leaveUnread(tasks[i], err.Error())
		}
	}
	return nil
}

// mayPass reports whether a query may succeed later.
func mayPass(err error) bool { return cloud.ClassOf(err).Retryable() }

func (m *promReading) leaveUnread(t promTask, reason string) {
	for _, uid := range t.uids {
		m.answer.Unread = append(m.answer.Unread, cloud.Unmeasured{UID: uid, Measure: t.measure})
	}
	if m.answer.UnreadReason == "" {
		m.answer.UnreadReason = reason
	}
}

// findOwners asks for the owners of pods, which kube-state-metrics tells.
func (m *promReading) findOwners(ctx context.Context) error {
	at := m.moments()
	at.step = max(at.step, time.Hour)
	m.answer.Calls, m.answer.Queries = 1, 1
	got, err := m.server.query(ctx, promQuery{"max(kube_pod_owner)", at})
	m.byName = len(got) == 0
	return err
}

// moments are the ends of the buckets of the request.
func (m *promReading) moments() promTime {
	return promTime{m.request.From.Add(m.request.Period), m.request.To, m.request.Period}
}

// tasks returns the queries of the request. Measures that nothing in the cluster reports are left unread.
func (m *promReading) tasks() (out []promTask) {
	series := promTypes[m.request.Type].series
	m.answer.Unread = cloud.UnreadAll(m.strangers(), m.request)
	for _, scope := range m.scopes() {
		for i, measure := range m.request.Measures {
			t := promTask{measure: i, scope: scope.promScope, uids: scope.uids}
			switch s, known := series[measure.Metric]; {
			case !known:
				m.leaveUnread(t, measure.Metric+" is no measure of "+m.request.Type)
			case m.byName && !s.nameless:
				m.leaveUnread(t, "the cluster's Prometheus has no series of "+stateMetrics+" 2: install it, because "+
					measure.Metric+" needs it")
			default:
				out = append(out, t)
			}
		}
	}
	return out
}

// strangers are the uids that are no objects of this cluster.
func (m *promReading) strangers() []string {
	known := map[string]bool{}
	for _, uid := range m.objects {
		known[uid] = true
	}
	return slices.DeleteFunc(slices.Clone(m.request.UIDs), func(uid string) bool { return known[uid] })
}

// objectScope is some of the objects, and the namespaces that they are in.
type objectScope struct {
	promScope
	uids []string
}

// scopes divides the objects by namespaces, so that a query has few series and a short text. Objects without a
// namespace have one scope.
func (m *promReading) scopes() (out []objectScope) {
	byNS := map[string][]string{}
	for at, uid := range m.objects {
		byNS[at.ns] = append(byNS[at.ns], uid)
	}
	var names []string
	for ns := range byNS {
		names = append(names, ns)
	}
	slices.Sort(names)
	for _, ns := range names {
		quoted := regexp.QuoteMeta(ns)
		if n := len(out); n > 0 && len(out[n-1].uids)+len(byNS[ns]) <= maxQuerySeries &&
			len(out[n-1].namespaces)+len(quoted) < maxNamespaceBytes {
			out[n-1].namespaces += "|" + quoted
			out[n-1].uids = append(out[n-1].uids, byNS[ns]...)
			continue
		}
		scope := promScope{namespaces: quoted, period: m.request.Period, byName: m.byName}
		out = append(out, objectScope{scope, byNS[ns]})
	}
	return out
}

// promOutcome is what a task has returned, and its calls.
type promOutcome struct {
	points []cloud.Points
	calls  int
}

// read asks for a measure in as many queries as its points need.
func (m *promReading) read(ctx context.Context, t promTask) (out promOutcome, err error) {
	measure := m.request.Measures[t.measure]
	expr := queryOf(promTypes[m.request.Type].series[measure.Metric], measure.Statistic, t.scope)
	found := map[string]*cloud.Points{}
	for _, at := range m.moments().split(len(t.uids)) {
		out.calls++
		got, err := m.server.query(ctx, promQuery{expr, at})
		if err != nil {
			return out, err
		}
		for _, r := range got {
			m.addTo(found, t.measure, r)
		}
	}
	for _, uid := range t.uids {
		if p := found[uid]; p != nil {
			out.points = append(out.points, *p)
		}
	}
	return out, nil
}

// split divides moments so that a query has few points of each series and in all. In PromQL a query may return more
// series than objects were asked for: all of their namespaces.
func (p promTime) split(series int) (out []promTime) {
	n := min(maxSeriesPoints, max(maxQueryPoints/max(series, 1), 1))
	for from := p.from; !from.After(p.to); {
		to := from.Add(time.Duration(n-1) * p.step)
		if to.After(p.to) {
			to = p.to
		}
		out = append(out, promTime{from, to, p.step})
		from = to.Add(p.step)
	}
	return out
}

// addTo adds the points of a series to those of its object.
func (m *promReading) addTo(found map[string]*cloud.Points, measure int, r promResult) {
	uid, asked := m.objects[m.objectOf(r.Metric)]
	p := r.pointsOf(m.request.Period)
	if !asked || len(p.Times) == 0 {
		return
	}
	if old := found[uid]; old != nil {
		old.Times, old.Values = append(old.Times, p.Times...), append(old.Values, p.Values...)
		return
	}
	p.UID, p.Measure = uid, measure
	found[uid] = &p
}

// objectOf returns the object that the labels of a series name.
func (m *promReading) objectOf(labels map[string]string) ref {
	switch names := promTypes[m.request.Type].labels; len(names) {
	case 0: // the only series is that of the cluster
		for at := range m.objects {
			return at
		}
		return ref{}
	case 1:
		if names[0] == "namespace" {
			return ref{labels["namespace"], ""}
		}
		return ref{name: labels[names[0]]}
	default:
		return ref{labels[names[0]], labels[names[1]]}
	}
}
