package sessions

import (
	"context"
	"net/http"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/attempts"
)

// countNotAdmitted counts a log-in or refresh that an organization of the user does not admit. Only that organization
// is told. The request's own row is in the log of the installation, because the holder of a password or token could
// add any number of rows to that of the organization.
func (s Sessions) countNotAdmitted(ctx context.Context, t attempts.Attempt, a userOrganisations, err error) {
	if a.includes(t.Org) && fault.Is(err, fault.Denied) {
		attempts.New(s.Platform).Note(ctx, attempts.Attempt{
			Action: t.Action, Status: http.StatusForbidden, Who: a.ID, Org: t.Org,
			IP: rest.SourceIP(ctx), RequestID: rest.RequestID(ctx),
		})
	}
}

// countRefused counts a refresh token that was refused, in the organization that the session works in.
func (s Sessions) countRefused(ctx context.Context, u identity.User, org string, err error) {
	if org != "" && fault.Is(err, fault.Unauthenticated) {
		attempts.New(s.Platform).Note(ctx, attempts.Attempt{
			Action: attempts.Refresh, Status: http.StatusUnauthorized, Who: u.ID, Org: org,
			IP: rest.SourceIP(ctx), RequestID: rest.RequestID(ctx),
		})
	}
}
