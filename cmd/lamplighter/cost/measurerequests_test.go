package cost

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// wait waits on the clock of the service.
func (s *site) wait(d time.Duration) {
	s.Helper()
	s.must(clock.System{}.Sleep(s.Context(), d))
}

// requests measures the second request of each operation, with the linking of its audit log entry.
func (s *site) requests(m *Measured, group, resource string) {
	s.Helper()
	m.Requests = map[string]Sample{}
	for _, r := range requests {
		if r.Path == refreshPath {
			continue // its entries are linked together with others
		}
		name := r.Method + " " + r.Path
		r.Path = strings.NewReplacer("{resourceID}", resource, "{groupID}", group).Replace(r.Path)
		for i := range 2 {
			s.logIn(s.org) // a token is valid for 15 minutes, and its entry is linked before
			s.linked(m.Bare, newSample())
			s.Take()
			s.request(r, i)
		}
		m.Requests[name] = s.linked(m.Bare, s.Take())
	}
}

// request sends a request of an operation for the nth time.
func (s *site) request(r request, nth int) {
	s.Helper()
	switch {
	case r.Path == "/auth/login":
		s.logIn("")
	case r.Method == http.MethodPut:
		s.ask(r.Method, r.Path, map[string]any{"name": fmt.Sprint("Nightly ", nth)}, nil)
	default:
		s.ask(r.Method, r.Path, nil, nil)
	}
}

const (
	refreshPath  = "/auth/refresh"
	refreshEvery = 15 * time.Minute // by a user: the life of an access token
	// mostRefreshes limits the time of the measurement.
	mostRefreshes = 50
)

// refreshes measures refreshes of the tokens of users, evenly spread over three quarters of an hour, beside the linker
// of each minute: entries that arrive within some minutes are linked together. It returns their number.
func (s *site) refreshes(bare map[string]Sample, users int) (took Sample, n int) {
	s.Helper()
	s.logIn(s.org)
	s.linked(bare, newSample())
	s.Take()
	took, n = newSample(), min(3*users, mostRefreshes)
	minute := time.Minute // until the next run of the linker
	for range n {
		s.renewTokens()
		for left := refreshEvery / time.Duration(users); left > 0; {
			step := min(left, minute)
			s.wait(step)
			if left, minute = left-step, minute-step; minute == 0 {
				took = took.plus(s.beyond(bare, worker{"auditlinker", s.LinkAudit}))
				minute = time.Minute
			}
		}
	}
	return s.linked(bare, took.plus(s.Take())), n
}

// renewTokens exchanges the refresh token.
func (s *site) renewTokens() {
	s.Helper()
	var out session
	s.ask(http.MethodPost, refreshPath, map[string]string{"refreshToken": s.refresh}, &out)
	s.token, s.refresh = out.AccessToken, out.RefreshToken
}
