package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// The credentials of an account that name a Prometheus outside the cluster's API: its address, and a bearer token
// for it.
const (
	prometheusURL   = "prometheusURL"
	prometheusToken = "prometheusToken"
)

// A query of many series takes longer than a call of the API.
const (
	queryTime     = 60 * time.Second
	queryAttempts = 3
)

// metricsNeed is the permission to ask a Service through the API server.
var metricsNeed = rule{servicesOf, "proxy", "get"}

// promServer is a server with the HTTP API of Prometheus.
type promServer struct {
	client *apiClient
	name   string   // for errors
	path   []string // before /api/v1
	post   bool     // queries go in the body; a proxy of the cluster would need another permission for that
}

// knownServer is a program with the HTTP API of Prometheus, by the labels that its charts and operators give its
// Service: any of them. prefix is the path of the API.
type knownServer struct {
	selectors []string
	prefix    []string
}

// knownServers are those that krr finds, in its order: a server that stores the samples of several ones, or for
// longer, comes first.
var knownServers = []knownServer{
	{[]string{"app.kubernetes.io/name=vmsingle", "app.kubernetes.io/name=victoria-metrics-single"}, nil},
	{
		[]string{"app.kubernetes.io/name=vmselect", "app.kubernetes.io/component=vmselect", "app=vmselect"},
		[]string{"select", "0", "prometheus"},
	},
	{[]string{
		"app.kubernetes.io/component=query,app.kubernetes.io/name=thanos", "app.kubernetes.io/name=thanos-query",
		"app=thanos-query", "app=thanos-querier",
	}, nil},
	{
		[]string{"app.kubernetes.io/name=mimir,app.kubernetes.io/component=query-frontend"},
		[]string{"prometheus"},
	},
	{[]string{
		"app=kube-prometheus-stack-prometheus", "app=prometheus,component=server", "app=prometheus-server",
		"app=prometheus-operator-prometheus", "app=rancher-monitoring-prometheus", "app=prometheus-prometheus",
		"app.kubernetes.io/name=prometheus,app.kubernetes.io/component=server",
		"app.kubernetes.io/name=prometheus,app.kubernetes.io/component=prometheus", "app=stack-prometheus",
	}, nil},
}

// selectsLabels reports whether a Service with the labels belongs to the program.
func (k knownServer) selectsLabels(labels map[string]string) bool {
	return slices.ContainsFunc(k.selectors, func(selector string) bool { return hasLabels(labels, selector) })
}

// hasLabels reports whether labels fulfil a selector of the form "a=b,c=d".
func hasLabels(labels map[string]string, selector string) bool {
	for one := range strings.SplitSeq(selector, ",") {
		if name, value, _ := strings.Cut(one, "="); labels[name] != value {
			return false
		}
	}
	return true
}

// queryPorts are the names of ports with the HTTP API, the usual one first.
var queryPorts = []string{"http-web", "web", "http-query", "query", "http", "http-metrics", "https", ""}

// proxyPort returns the scheme, name and port of a Service as the API server's proxy takes them; false if none of its
// ports is known to have the HTTP API.
func (s service) proxyPort() (string, bool) {
	best, port := len(queryPorts), servicePort{}
	for _, p := range s.Spec.Ports {
		if i := slices.Index(queryPorts, p.Name); i >= 0 && i < best {
			best, port = i, p
		}
	}
	scheme := ""
	if port.Name == "https" || port.Port == 443 {
		scheme = "https"
	}
	return scheme + ":" + s.Name + ":" + strconv.Itoa(port.Port), best < len(queryPorts)
}

// servicesWithMetrics returns the Services of known servers, those of the preferred program first.
func servicesWithMetrics(all map[string][]service, through *apiClient) (out []promServer) {
	for _, known := range knownServers {
		for _, ns := range sortedNamespaces(all) {
			for _, s := range all[ns] {
				if at, ok := s.proxyPort(); ok && known.selectsLabels(s.Labels) {
					path := []string{"api", "v1", "namespaces", ns, "services", at, "proxy"}
					out = append(out, promServer{
						client: through, name: "the Service " + ns + "/" + s.Name,
						path: slices.Concat(path, known.prefix),
					})
				}
			}
		}
	}
	return out
}

func sortedNamespaces(all map[string][]service) []string {
	var out []string
	for ns := range all {
		out = append(out, ns)
	}
	slices.Sort(out)
	return out
}

// mostServers is how many Services are tried.
const mostServers = 5

// prometheus returns the server that measures the cluster: that of the account's settings, or the first Service of a
// known one that answers. It is looked for once. Without one the error says what to do.
func (c *cluster) prometheus(ctx context.Context) (*promServer, error) {
	c.promMu.Lock()
	defer c.promMu.Unlock()
	if c.prom != nil {
		return c.prom, nil
	}
	found, err := c.surveyServices(ctx)
	if err != nil {
		return nil, err
	}
	if found.err != nil {
		return nil, found.err
	}
	var last error
	servers := servicesWithMetrics(found.value, c.patient)
	for i := range servers[:min(len(servers), mostServers)] {
		s := &servers[i]
		now := promTime{c.clock.Now(), c.clock.Now(), time.Hour}
		if _, last = s.query(ctx, promQuery{expr: "vector(1)", at: now}); last == nil {
			c.prom = s
			return s, nil
		}
		if cloud.ClassOf(last) == cloud.Denied {
			return nil, last
		}
	}
	return nil, cmp.Or(last, errWithoutPrometheus())
}

func errWithoutPrometheus() error {
	return cloud.ErrUnsupported("the cluster has no Service of a Prometheus, Thanos, VictoriaMetrics or Mimir that " +
		"is known by its labels: install one, or name its address by credentials.prometheusURL of the account")
}

// openPrometheus prepares the client of the server that the account's settings name; nil if they name none. It makes
// no call.
func (p *Provider) openPrometheus(a cloud.Account) (*promServer, error) {
	address := a.Credentials[prometheusURL]
	if address == "" {
		return nil, nil
	}
	policy := p.options.addressPolicy()
	if err := policy.CheckAddress(address); err != nil {
		return nil, cloud.ErrInvalid("credentials.prometheusURL: %s", fault.Message(err))
	}
	base, err := url.Parse(address)
	if err != nil {
		return nil, cloud.ErrInvalid("credentials.prometheusURL is not an address")
	}
	token := a.Credentials[prometheusToken]
	if token != "" && base.Scheme != "https" {
		return nil, cloud.ErrInvalid("credentials.prometheusURL must begin with https://, for it is sent a token")
	}
	sent := &carrier{
		next: policy.Transport(), options: p.options.patient(), slots: p.slotsOf(address), limiter: p.limiter,
		server: address,
	}
	if token != "" {
		sent.token = func(context.Context) (string, error) { return token, nil }
	}
	return &promServer{client: newAPIClient(base, sent), name: "the account's Prometheus", post: true}, nil
}

// patient returns the options for queries, which take longer than calls of the API and are repeated less often.
func (o Options) patient() Options {
	o.Timeout, o.Attempts = max(o.Timeout, queryTime), min(o.Attempts, queryAttempts)
	return o
}

func newAPIClient(base *url.URL, through *carrier) *apiClient {
	return &apiClient{base: base, http: &http.Client{
		Transport: through,
		// A redirect could carry the token to another host.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// errorOf returns the error of a query. An answer of the server says more than its status: its own words.
func (s *promServer) errorOf(err error) error {
	op := metricsNeed.ruleName()
	if s.post {
		op = "query credentials.prometheusURL"
	}
	status, is := errors.AsType[*statusError](err)
	if !is {
		return classifyError(op, err)
	}
	words := cmp.Or(status.words, messageOf(status.apiStatus))
	out := &cloud.Error{Class: classOf(status.apiStatus), Op: op, Code: codeOf(status.apiStatus), Err: err}
	switch {
	case out.Class == cloud.Refused && !s.post, out.Class == cloud.Denied && !s.post:
		out.Class = cloud.Denied // the account itself is not refused
		out.Message = fmt.Sprintf("%s is not reached through the API server (%s): allow %q in the cluster, or name "+
			"its address by credentials.prometheusURL of the account", s.name, words, op)
	case out.Class == cloud.Refused || out.Class == cloud.Denied:
		out.Class = cloud.Denied
		out.Message = s.name + " refuses credentials.prometheusToken of the account: " + words
	case out.Class == cloud.Transient || out.Class == cloud.Throttled:
		out.Message = s.name + ": " + words
	default:
		out.Class = cloud.Unsupported
		out.Message = s.name + " does not answer the query: " + words
	}
	return out
}
