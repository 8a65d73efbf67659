// Package prometheustwin is a small server with the HTTP API of Prometheus in this process. It does not evaluate
// PromQL: a series names the texts that a query for it contains, and has the values that the query would have. Package
// prometheusengine evaluates queries with Prometheus' own engine.
package prometheustwin

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Series is a time series that the queries with all texts of In return.
type Series struct {
	In     []string
	Labels map[string]string
	At     func(time.Time) (float64, bool) // the value at a moment; false for none
}

// Always returns the function of a series with one value.
func Always(v float64) func(time.Time) (float64, bool) {
	return func(time.Time) (float64, bool) { return v, true }
}

// Call is one query as it arrived.
type Call struct {
	Path, Query string
	Start, End  time.Time
	Step        time.Duration
	Token       string
	Method      string
}

// Server is the twin. Make it with New.
type Server struct {
	// NoStateMetrics leaves the series of kube-state-metrics out.
	NoStateMetrics bool

	mu       sync.Mutex
	series   []Series
	calls    []Call
	warnings []string
	fail     []int  // the statuses of the next answers
	refuse   string // a text of queries that are refused
}

// New returns a server without series.
func New() *Server { return &Server{} }

// Add adds series.
func (s *Server) Add(all ...Series) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.series = append(s.series, all...)
}

// Warn makes all answers have these warnings, as an answer that is partial has; none ends it.
func (s *Server) Warn(warnings ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.warnings = warnings
}

// Fail makes the next queries fail with these statuses of HTTP.
func (s *Server) Fail(statuses ...int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = statuses
}

// Refuse refuses the queries that contain a text, as an engine does that cannot execute them; "" ends it.
func (s *Server) Refuse(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuse = text
}

// Calls returns the queries since the last ForgetCalls.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

// ForgetCalls empties the list of calls.
func (s *Server) ForgetCalls() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = nil
}

// Start serves on an address of its own until the test ends.
func (s *Server) Start(cleanup func(func())) *httptest.Server {
	server := httptest.NewServer(s)
	cleanup(server.Close)
	return server
}

// ServeHTTP answers /api/v1/query_range, by GET and by POST.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := r.ParseForm(); err != nil || !strings.HasSuffix(r.URL.Path, "/api/v1/query_range") {
		http.NotFound(w, r)
		return
	}
	c := callOf(r.Form)
	c.Path, c.Method, c.Token = r.URL.Path, r.Method, strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.calls = append(s.calls, c)
	w.Header().Set("Content-Type", "application/json")
	if status := s.failure(c); status != 0 {
		w.WriteHeader(status)
		_, _ = w.Write([]byte(`{"status":"error","errorType":"execution","error":"the twin fails"}`))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{
		"status": "success", "warnings": s.warnings,
		"data": map[string]any{"resultType": "matrix", "result": s.answer(c)},
	})
}

// failure returns the status of an answer that fails, or 0.
func (s *Server) failure(c Call) int {
	if len(s.fail) > 0 {
		status := s.fail[0]
		s.fail = s.fail[1:]
		return status
	}
	if s.refuse != "" && strings.Contains(c.Query, s.refuse) {
		return http.StatusUnprocessableEntity
	}
	return 0
}

func callOf(form url.Values) Call {
	at := func(name string) time.Time {
		n, _ := strconv.ParseInt(form.Get(name), 10, 64)
		return time.Unix(n, 0).UTC()
	}
	step, _ := strconv.Atoi(form.Get("step"))
	return Call{
		Query: form.Get("query"), Start: at("start"), End: at("end"), Step: time.Duration(step) * time.Second,
	}
}

// subquery matches the statistic of a subquery and its window: max_over_time((…)[3599s:300s]).
var subquery = regexp.MustCompile(`^(\w+)_over_time\(.*\[(\d+)s:(\d+)s\]\)$`)

// namespaces matches the first matcher of namespaces of a query.
var namespaces = regexp.MustCompile(`namespace=~"([^"]*)"`)

func (s *Server) answer(c Call) []any {
	out := []any{}
	if strings.Contains(c.Query, "kube_") && s.NoStateMetrics {
		return out
	}
	switch c.Query {
	case "vector(1)", "max(kube_pod_owner)":
		return append(out, encode(Series{At: Always(1)}, c))
	}
	for _, one := range s.series {
		wanted := !slices.ContainsFunc(one.In, func(text string) bool { return !strings.Contains(c.Query, text) })
		if in := namespaces.FindStringSubmatch(c.Query); wanted && in != nil && one.Labels["namespace"] != "" {
			wanted = regexp.MustCompile("^(" + in[1] + ")$").MatchString(one.Labels["namespace"])
		}
		if wanted {
			out = append(out, encode(one, c))
		}
	}
	return out
}

// encode returns a series of an answer. Moments without a value are left out.
func encode(s Series, c Call) any {
	values := []any{}
	for at := c.Start; !at.After(c.End); at = at.Add(c.Step) {
		if v, ok := valueAt(s, c.Query, at); ok {
			values = append(values, []any{at.Unix(), strconv.FormatFloat(v, 'g', -1, 64)})
		}
	}
	labels := s.Labels
	if labels == nil {
		labels = map[string]string{}
	}
	return map[string]any{"metric": labels, "values": values}
}

// valueAt returns the value of a series for a query at a moment: that of the moment, or the statistic of a subquery.
func valueAt(s Series, query string, at time.Time) (float64, bool) {
	f := subquery.FindStringSubmatch(query)
	if f == nil {
		return s.At(at)
	}
	window, _ := strconv.Atoi(f[2])
	step, _ := strconv.Atoi(f[3])
	var values []float64
	each := time.Duration(step) * time.Second
	for back := at.Truncate(each); back.After(at.Add(-time.Duration(window) * time.Second)); back = back.Add(-each) {
		if v, ok := s.At(back); ok {
			values = append(values, v)
		}
	}
	if len(values) == 0 {
		return 0, false
	}
	return fold(f[1], values), true
}

func fold(statistic string, values []float64) float64 {
	switch statistic {
	case "max":
		return slices.Max(values)
	case "min":
		return slices.Min(values)
	case "count":
		return float64(len(values))
	}
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}
