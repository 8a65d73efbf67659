package azure

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"golang.org/x/time/rate"

	"lamplighter.dev/shared/foundation/clock"
)

// Limit is a token bucket: so many calls a second, after a burst.
type Limit struct {
	PerSecond float64
	Burst     int
}

// defaultLimits stay below what Azure publishes: 15 queries of the Resource Graph in 5 seconds; of the resource manager 250
// reads and 25 a second more, 200 writes and 10 a second more, for one subscription and principal.
var defaultLimits = map[string]Limit{
	"graph": {PerSecond: 2.8, Burst: 14},
	"read":  {PerSecond: 20, Burst: 200},
	"write": {PerSecond: 8, Burst: 150},
	// 360,000 calls of the metrics of a subscription in an hour, for each region.
	"metrics": {PerSecond: 50, Burst: 50},
}

// manyBuckets is when full buckets, which are as good as none, are thrown away.
const manyBuckets = 4096

type bucketKey struct{ account, service, api string }

// bucket is what is left of a limit; nothing is sent before until, because Azure said so.
type bucket struct {
	rate  *rate.Limiter
	until time.Time
}

// limiter paces the attempts per account, service (Microsoft.Compute) and API, and keeps to what Azure's answers say of
// what is left.
type limiter struct {
	clock   clock.Clock
	limits  map[string]Limit
	longest time.Duration
	mu      sync.Mutex
	buckets map[bucketKey]*bucket
}

// wait takes a token, once there is one, or gives up with ctx.
func (l *limiter) wait(ctx context.Context, k bucketKey) error {
	l.mu.Lock()
	now := l.clock.Now()
	b := l.bucket(k, now)
	r := b.rate.ReserveN(now, 1)
	pause := max(r.DelayFrom(now), b.until.Sub(now))
	l.mu.Unlock()
	if err := l.clock.Sleep(ctx, pause); err != nil {
		r.CancelAt(now)
		return err
	}
	return nil
}

func (l *limiter) bucket(k bucketKey, now time.Time) *bucket {
	if b := l.buckets[k]; b != nil {
		return b
	}
	if len(l.buckets) >= manyBuckets {
		l.forgetFull(now)
	}
	limit, ok := l.limits[k.api]
	if !ok {
		limit = l.limits[""]
	}
	b := &bucket{rate: rate.NewLimiter(rate.Limit(limit.PerSecond), limit.Burst)}
	if limit.PerSecond <= 0 {
		b.rate = rate.NewLimiter(rate.Inf, 0)
	}
	l.buckets[k] = b
	return b
}

func (l *limiter) forgetFull(now time.Time) {
	for k, b := range l.buckets {
		if b.rate.TokensAt(now) >= float64(b.rate.Burst()) && !b.until.After(now) {
			delete(l.buckets, k)
		}
	}
}

// note takes in what an answer says of when to ask again: a used up quota of the Resource Graph, or a Retry-After.
func (l *limiter) note(k bucketKey, resp *http.Response) {
	var pause time.Duration
	switch h := resp.Header; {
	case h.Get("x-ms-user-quota-remaining") == "0":
		pause = clockTime(h.Get("x-ms-user-quota-resets-after"))
	case resp.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(h.Get("Retry-After")) // no number is no wish
		pause = time.Duration(seconds) * time.Second
	}
	if pause <= 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.clock.Now()
	b := l.bucket(k, now)
	if until := now.Add(min(pause, l.longest)); until.After(b.until) {
		b.until = until
	}
}

// clockTime reads "00:00:05"; what cannot be read is 0.
func clockTime(s string) time.Duration {
	var total time.Duration
	for part := range strings.SplitSeq(s, ":") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return 0
		}
		total = total*60 + time.Duration(n)*time.Second
	}
	return total
}

// pacer makes every attempt of every call of one account wait for its token.
type pacer struct {
	limiter *limiter
	account string
}

// Do waits, and sends the request on.
func (p pacer) Do(req *policy.Request) (*http.Response, error) {
	k := bucketKey{p.account, serviceOf(req.Raw().URL.Path), apiOf(req.Raw())}
	if err := p.limiter.wait(req.Raw().Context(), k); err != nil {
		return nil, err
	}
	resp, err := req.Next()
	if resp != nil {
		p.limiter.note(k, resp)
	}
	return resp, err
}

func apiOf(r *http.Request) string {
	switch {
	case strings.Contains(r.URL.Path, "/Microsoft.ResourceGraph/"):
		return "graph"
	case strings.HasSuffix(r.URL.Path, "/metrics:getBatch"):
		return "metrics"
	case r.Method == http.MethodGet:
		return "read"
	default:
		return "write"
	}
}

// serviceOf returns the namespace in a path: Microsoft.Compute; "" where there is none.
func serviceOf(path string) string {
	_, rest, _ := strings.Cut(strings.ToLower(path), "/providers/")
	name, _, _ := strings.Cut(rest, "/")
	return name
}
