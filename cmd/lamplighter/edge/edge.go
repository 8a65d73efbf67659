// Package edge is the outermost part of the local service's HTTP server. It refuses requests for the hosts of others,
// so that no web page can reach the service by DNS rebinding: the page's own name then leads to this machine, but the
// browser still sends that name as the Host. And it answers malformed requests, which net/http answers itself in plain
// text, with the interface's error and a request id.
package edge

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
)

// Local are the hosts that the service always answers to.
var Local = [...]string{"127.0.0.1", "localhost", "[::1]"}

// Edge is the configuration of a server's edge.
type Edge struct {
	Hosts []string // further hosts that requests may be for, without a port, in lower case
	Clock clock.Clock
}

// Guard returns a handler that refuses requests for other hosts than Local and Hosts.
func (e Edge) Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		switch {
		case host == "":
			Refuse(w, e.Clock, http.StatusBadRequest, "the header Host is missing or malformed")
		case slices.Contains(Local[:], host) || slices.Contains(e.Hosts, host):
			next.ServeHTTP(w, r)
		default:
			Refuse(w, e.Clock, http.StatusMisdirectedRequest, fmt.Sprintf(
				"the service does not answer to the host %.100q: use %s, or start it with -host and this name",
				host, strings.Join(Local[:], ", ")))
		}
	})
}

// Refuse answers a request with an error in the form of the interface, with a request id.
func Refuse(w http.ResponseWriter, c clock.Clock, status int, message string) {
	h := w.Header()
	for name, value := range headers(id.New("gw", c.Now())) {
		h.Set(name, value)
	}
	w.WriteHeader(status)
	_, _ = w.Write(body(message)) // the client has gone
}

// headers returns the headers of an error.
func headers(requestID string) map[string]string {
	return map[string]string{
		"Content-Type": "application/json", "X-Request-Id": requestID,
		"X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
	}
}

// body returns the body of an error, in the form of the interface.
func body(message string) []byte {
	type text struct {
		Message string `json:"message"`
	}
	b, err := json.Marshal(map[string]text{"error": {message}})
	if err != nil { // strings can always be encoded
		panic(err)
	}
	return b
}

// hostOf returns the host of a Host header in lower case, without its port, and "" for a malformed one. IPv6 addresses
// keep their brackets.
func hostOf(header string) string {
	host, port, _ := strings.Cut(header, ":")
	if strings.HasPrefix(header, "[") {
		before, after, closed := strings.Cut(header, "]")
		if !closed || after != "" && after[0] != ':' {
			return ""
		}
		host, port = before+"]", strings.TrimPrefix(after, ":")
	}
	if strings.ContainsFunc(port, func(r rune) bool { return r < '0' || r > '9' }) {
		return ""
	}
	return strings.ToLower(host)
}
