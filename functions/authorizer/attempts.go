package authorizer

import (
	"context"
	"errors"
	"net/http"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/attempts"
)

// ofUser is the error of a credential that names a user in an organization, and was refused.
type ofUser struct {
	error
	at userInOrg
}

func (e ofUser) Unwrap() error { return e.error }

// refuseUser adds to the error of a refused credential the user whom it names, in the organization that it is for. The
// credential is genuine: its signature was verified, or its secret was found.
func refuseUser(at userInOrg, err error) error {
	if err == nil || at.org == "" || !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	return ofUser{err, at}
}

// countRefused counts a refused credential for the audit log of the organization that it is for. One that names no user
// is only measured: no member's credential is known to be in use.
func (a *authorizer) countRefused(ctx context.Context, err error, r *Request) {
	named, ok := errors.AsType[ofUser](err)
	if !ok {
		a.attempts.Measure(ctx, attempts.RefusedTokens)
		return
	}
	a.attempts.Note(ctx, attempts.Attempt{
		Action: attempts.UseToken, Status: http.StatusUnauthorized, Who: named.at.userID, Org: named.at.org,
		IP: r.RequestContext.Identity.SourceIP, RequestID: r.RequestContext.RequestID,
	})
}
