package gcp

import (
	"net/http"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
)

// Limit is a token bucket: so many calls a second, after a burst.
type Limit = throttle.Limit

// defaultLimits stay below the limits that Google publishes for a project, in calls per minute: 1,500 for each group
// of Compute Engine calls, 180 for Cloud SQL Admin, 3,000 for GKE and for the reads of Cloud Run. Google counts fixed
// minutes, so the burst plus one minute's rate must stay below the limit. The customer's own tools use the same
// quotas; the limiter slows down when Google refuses a call.
var defaultLimits = map[string]Limit{
	"compute:read":  {PerSecond: 24.5, Burst: 30},
	"compute:write": {PerSecond: 24.5, Burst: 30},
	"sqladmin":      {PerSecond: 2.5, Burst: 30},
	"":              {PerSecond: 8, Burst: 20},
}

func newLimiter(o Options) *throttle.Limiter {
	return throttle.New(throttle.Options{Clock: o.Clock, Store: o.Store, Limits: o.Limits, Log: o.Log})
}

// limiter returns the limiter of the account.
func (t *retryTransport) limiter() *throttle.Limiter {
	if t.endpoint != nil {
		return t.provider.endpoints
	}
	return t.provider.limiter
}

// bucketOf returns the bucket of a request: its API, and reads or changes.
func (t *retryTransport) bucketOf(r *http.Request) throttle.Key {
	api, _, _ := strings.Cut(r.URL.Host, ".")
	group := ":write"
	if r.Method == http.MethodGet {
		group = ":read"
	}
	return throttle.Key{Account: t.project, API: api + group}
}

// learnFrom reports the end of an attempt to the limiter.
func (t *retryTransport) learnFrom(k throttle.Key, resp *http.Response, body []byte) {
	switch {
	case resp.StatusCode >= http.StatusBadRequest && parseAnswer(resp.StatusCode, body).errorClass() == cloud.Throttled:
		t.limiter().Throttled(k, retryAfter(resp.Header))
	case resp.StatusCode < http.StatusInternalServerError:
		t.limiter().Answered(k)
	}
}
