package local

import (
	"context"
	"net/http"
	"slices"

	"lamplighter.dev/cmd/lamplighter/edge"
	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
)

// madeDemo is a demo whose data is made. Its accounts in org may still be discovered; an empty org means that they are.
type madeDemo struct{ org string }

// whenDemoIsReady returns a handler that answers GET /healthz by 503 until the demo is ready. All other requests are
// answered before: the demo is made by them.
func (s *Service) whenDemoIsReady(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := s.unready(r); why != "" {
			edge.Refuse(w, s.Platform.Clock, http.StatusServiceUnavailable, why+": ask again in a few seconds")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// unready returns why the request is refused: it asks for the health of the service, and the demo is not ready.
func (s *Service) unready(r *http.Request) string {
	if r.URL.Path != "/healthz" {
		return ""
	}
	made := s.demo.Load()
	switch {
	case made == nil:
		return "the demo is being made"
	case made.org == "":
		return ""
	}
	if done, err := s.discovered(r.Context(), made.org); err != nil || !done {
		return "the accounts of the demo are being discovered"
	}
	s.demo.Store(&madeDemo{}) // it stays ready, whatever its users connect later
	return ""
}

// discovered reports whether no account of the organization waits for its first discovery.
func (s *Service) discovered(ctx context.Context, org string) (bool, error) {
	ctx = table.WithOrg(cloudaccounts.Declaration.As(ctx), org)
	all, err := connection.ListAccounts(ctx, s.Platform.Table, org)
	waiting := slices.ContainsFunc(all, func(a inventory.Account) bool {
		return a.Status == inventory.AccountConnecting
	})
	return !waiting, err
}
