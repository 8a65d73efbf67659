package auth

import (
	"context"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
)

// registerSessions registers the operations for the caller's own sessions.
func registerSessions(g *rest.Group, s *service) {
	rest.Handle(g, rest.Op{
		ID: "listSessions", Method: http.MethodGet, Path: "/auth/sessions", Summary: "List the caller's sessions",
		Description: "The sessions that have not ended, the last used first. A session of single sign-on sees and " +
			"ends only sessions of the same organization's single sign-on. The operation needs the access token of " +
			"a session.",
		SignedIn: true, Session: true, Statuses: []int{http.StatusBadRequest},
	}, s.listSessions)

	rest.Handle(g, rest.Op{
		ID: "endSession", Method: http.MethodDelete, Path: "/auth/sessions/{sessionID}",
		Summary: "End one of the caller's sessions",
		Description: "Its access tokens and its refresh token are invalid from then on. 404: the session does not " +
			"exist, has ended, or is another user's. The operation needs the access token of a session.",
		SignedIn: true, Session: true, Statuses: []int{http.StatusNotFound},
	}, s.endSession)
}

// Session is the user's view of a session.
type Session struct {
	ID         string    `json:"id" doc:"The session" example:"4w3kq5z2n7v6x1c8b9m0p2r4t6"`
	CreatedAt  time.Time `json:"createdAt" doc:"Time of the log-in"`
	LastSeenAt time.Time `json:"lastSeenAt" doc:"Time of the log-in or the last refresh. A client that works refreshes at least every 15 minutes"`
	SourceIP   *string   `json:"sourceIP" doc:"Network address of the log-in or the last refresh; null if unknown"`
	UserAgent  *string   `json:"userAgent" doc:"User-Agent of the log-in or the last refresh, up to 200 characters; null if the client sent none"`
	Method     *string   `json:"method" doc:"How the user logged in: email, google, github, saml or passkey; null if an earlier version of the service began the session" example:"email"`
	Current    bool      `json:"current" doc:"Whether the request was made in this session"`
}

func newSession(sess identity.Session, current string) Session {
	return Session{
		ID: sess.ID, CreatedAt: sess.Created, LastSeenAt: time.Unix(sess.Rotated, 0).UTC(),
		SourceIP: nilIfEmpty(sess.SourceIP), UserAgent: nilIfEmpty(sess.UserAgent), Method: nilIfEmpty(sess.Method),
		Current: sess.ID == current,
	}
}

func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type listSessionsInput struct{ rest.Page }

func (s *service) listSessions(ctx context.Context, in *listSessionsInput) (rest.List[Session], error) {
	c := identity.CallerFrom(ctx)
	all, err := s.sessions.ListOwn(ctx, c)
	if err != nil {
		return rest.List[Session]{}, err
	}
	return rest.MapItems(rest.PageOf(all, in.Page), func(sess identity.Session) Session {
		return newSession(sess, c.Session)
	}), nil
}

type sessionInput struct {
	SessionID string `path:"sessionID" maxLength:"64" doc:"The id of the session"`
}

func (s *service) endSession(ctx context.Context, in *sessionInput) (rest.Deleted, error) {
	c := identity.CallerFrom(ctx)
	sess, err := s.sessions.EndOwn(ctx, c, in.SessionID)
	if err != nil {
		return rest.Deleted{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: sess.ID, Before: endedSession{sess.ID, sess.User}})
	return rest.Deleted{ID: sess.ID}, nil
}
