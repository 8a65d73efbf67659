package kubernetestwin

import (
	"net/http"
	"strings"
)

// proxyRequest hands a request for a Service on to the server behind it, as the API server does: the name is
// "scheme:name:port", and the token stays here. It returns the status of the answer.
func (c *Cluster) proxyRequest(w http.ResponseWriter, r *http.Request, q request) int {
	name := q.name
	if f := strings.Split(name, ":"); len(f) == 3 {
		name = f[1]
	}
	if c.objects["services"][placeName(q.ns, name)] == nil {
		return writeFailure(w, newFailure(http.StatusNotFound, "NotFound", "services %q not found", name))
	}
	server := c.Behind[q.ns+"/"+name]
	if server == nil {
		return writeFailure(w, newFailure(http.StatusServiceUnavailable, "ServiceUnavailable",
			"no endpoints available for service %q", name))
	}
	to := r.Clone(r.Context())
	_, to.URL.Path, _ = strings.Cut(r.URL.Path, "/proxy")
	to.Header.Del("Authorization")
	seen := &statusWriter{w, http.StatusOK}
	server.ServeHTTP(seen, to)
	return seen.status
}

// statusWriter notes the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// AddPrometheus adds the Service that the chart kube-prometheus-stack makes, with a server behind it.
func (c *Cluster) AddPrometheus(server http.Handler) {
	const ns, name = "monitoring", "stack-prometheus"
	c.Add("services", fields{
		"metadata": fields{
			"namespace": ns, "name": name, "labels": fields{"app": "kube-prometheus-stack-prometheus"},
		},
		"spec": fields{"type": "ClusterIP", "ports": []any{
			fields{"name": "http-web", "port": 9090}, fields{"name": "reloader-web", "port": 8080},
		}},
	})
	if c.Behind == nil {
		c.Behind = map[string]http.Handler{}
	}
	c.Behind[ns+"/"+name] = server
}
