package azure

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/throttle"
)

// Limit is a token bucket: so many calls a second, after a burst.
type Limit = throttle.Limit

// defaultLimits stay below the limits that Azure publishes: 15 queries of the Resource Graph in 5 seconds; of the
// resource manager, for one subscription and principal, 250 reads and 25 a second more, and 200 writes and 10 a second
// more; and for machines of one subscription and region, 1,500 starts and 1,500 deallocations, and 500 a minute more
// of each. The customer's own tools use the same buckets; the limiter slows down when Azure refuses a call.
var defaultLimits = map[string]Limit{
	"graph":      {PerSecond: 2.8, Burst: 14},
	"arm:read":   {PerSecond: 24, Burst: 230},
	"arm:write":  {PerSecond: 9.6, Burst: 180},
	"arm:delete": {PerSecond: 9.6, Burst: 180},
	deallocated:  {PerSecond: 8, Burst: 1350},
	started:      {PerSecond: 8, Burst: 1350},
	// 360,000 calls of the metrics of a subscription in an hour, for each region.
	"metrics": {PerSecond: 50, Burst: 50},
	// Cost Management: 12 units in 10 seconds, 60 in a minute, a month's question being one.
	"query":   {PerSecond: 0.9, Burst: 4},
	"storage": {PerSecond: 200, Burst: 400},
}

// The acts that Microsoft.Compute counts by region, in addition to the resource manager's count of calls.
const (
	deallocated = "compute:deallocate"
	started     = "compute:start"
)

func newLimiter(o Options) *throttle.Limiter {
	return throttle.New(throttle.Options{Clock: o.Clock, Store: o.Store, Limits: o.Limits, Log: o.Log})
}

// pacer makes every attempt of every call of one account wait for its tokens.
type pacer struct {
	limiter                 *throttle.Limiter
	subscription, principal string
}

func (p *Provider) pacerOf(a cloud.Account) pacer {
	out := pacer{
		limiter: p.limiter, subscription: strings.ToLower(a.NativeID),
		principal: strings.ToLower(a.Credentials["clientID"]),
	}
	if a.EndpointURL != "" {
		out.limiter = p.endpoints
	}
	if out.subscription == "" {
		out.subscription = a.ID
	}
	return out
}

// Do waits, sends the request on, and reports the answer to the limiter.
func (p pacer) Do(req *policy.Request) (*http.Response, error) {
	keys := p.bucketKeys(req.Raw())
	for _, k := range keys {
		if err := p.limiter.Wait(req.Raw().Context(), k, 1); err != nil {
			return nil, err
		}
	}
	resp, err := req.Next()
	if resp != nil {
		p.learnFrom(keys, resp)
	}
	return resp, err
}

// bucketKeys returns the buckets that pay for a request.
func (p pacer) bucketKeys(r *http.Request) []throttle.Key {
	path := strings.ToLower(r.URL.Path)
	if account, isBlob := strings.CutSuffix(r.URL.Host, blobHost); isBlob {
		return []throttle.Key{{Account: account, API: "storage"}}
	}
	keys := []throttle.Key{{Account: p.subscription + "/" + p.principal, API: apiOf(r.Method, path)}}
	if api := machinesAPI(path); api != "" {
		region, _ := r.Context().Value(regionKey{}).(string)
		keys = append(keys, throttle.Key{Account: p.subscription, Region: region, API: api})
	}
	return keys
}

// regionKey is the context key for the region of the resources that are acted on. Azure's paths do not name it.
type regionKey struct{}

func withRegion(ctx context.Context, region string) context.Context {
	return context.WithValue(ctx, regionKey{}, region)
}

// machinesAPI names the bucket of Microsoft.Compute for a path; "" if it does not count the call.
func machinesAPI(path string) string {
	if !strings.Contains(path, "/microsoft.compute/virtualmachines/") {
		return ""
	}
	switch path[strings.LastIndex(path, "/")+1:] {
	case "deallocate":
		return deallocated
	case "start":
		return started
	}
	return ""
}

func apiOf(method, path string) string {
	switch {
	case strings.Contains(path, "/microsoft.resourcegraph/"):
		return "graph"
	case strings.HasSuffix(path, "/metrics:getbatch"):
		return "metrics"
	case strings.HasSuffix(path, "/microsoft.costmanagement/query"):
		return "query"
	case method == http.MethodGet:
		return "arm:read"
	case method == http.MethodDelete:
		return "arm:delete"
	default:
		return "arm:write"
	}
}

// learnFrom passes an answer's limits to the limiter: an exhausted quota of the Resource Graph, or a refusal. Azure
// does not always name the empty bucket, so all buckets of the call slow down.
func (p pacer) learnFrom(keys []throttle.Key, resp *http.Response) {
	for _, k := range keys {
		switch {
		case resp.StatusCode == http.StatusTooManyRequests:
			p.limiter.Throttled(k, retryAfter(resp.Header))
		case resp.Header.Get("x-ms-user-quota-remaining") == "0":
			p.limiter.Pause(k, clockTime(resp.Header.Get("x-ms-user-quota-resets-after")))
		case resp.StatusCode < http.StatusInternalServerError:
			p.limiter.Answered(k)
		}
	}
}

// costsRetryAfter is the prefix of the headers that say how long each quota of Cost Management stays exhausted.
const costsRetryAfter = "X-Ms-Ratelimit-Microsoft.costmanagement-"

// retryAfter returns the longest of the seconds that an answer names; 0 when it names none.
func retryAfter(h http.Header) time.Duration {
	longest := 0
	for name, values := range h {
		if name != "Retry-After" &&
			(!strings.HasPrefix(name, costsRetryAfter) || !strings.HasSuffix(strings.ToLower(name), "-retry-after")) {
			continue
		}
		if seconds, err := strconv.Atoi(values[0]); err == nil {
			longest = max(longest, seconds)
		}
	}
	return time.Duration(min(longest, 3600)) * time.Second
}

// clockTime parses "00:00:05"; it returns 0 for other text.
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
