package auth

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/fault"
	"lamplighter.dev/shared/identity"
	"lamplighter.dev/shared/table"
)

type refreshInput struct {
	Body struct {
		RefreshToken string `json:"refreshToken" maxLength:"256" doc:"The newest refresh token of the session"`
		TenantID     string `json:"tenantID,omitempty" maxLength:"64" doc:"The organization to move the session to"`
	}
}

func (s *service) refresh(ctx context.Context, in *refreshInput) (LoggedIn, error) {
	t, err := parseRefresh(in.Body.RefreshToken, s.Settings.Pepper)
	if err != nil {
		return LoggedIn{}, err
	}
	ctx = reach(ctx)
	sess, err := table.Read[identity.Session](ctx, s.Table, identity.SessionKey(t.session))
	if fault.Is(err, fault.NotFound) {
		return LoggedIn{}, errRefresh()
	}
	if err != nil {
		return LoggedIn{}, fmt.Errorf("read session %s: %w", t.session, err)
	}
	u, err := s.owner(ctx, sess)
	if err != nil {
		return LoggedIn{}, err
	}
	tenants, err := identity.OrganisationsOf(ctx, s.Table, u.ID)
	if err != nil {
		return LoggedIn{}, err
	}
	org, err := choose(tenants, in.Body.TenantID, sess.Org)
	if err != nil && sess.Hash == t.hash(s.Settings.Pepper) && sess.State == identity.SessionLive {
		// A wish that cannot be met does not use the token up; but an old token is to be noticed, whatever it wishes.
		return LoggedIn{}, err
	}
	if t, err = s.rotate(ctx, t, org); err != nil {
		return LoggedIn{}, err
	}
	sess.Org = org
	return s.loggedIn(ctx, sess, t, account{u, tenants})
}

// owner reads the user of a session that may still be refreshed.
func (s *service) owner(ctx context.Context, sess identity.Session) (identity.User, error) {
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(sess.User))
	if fault.Is(err, fault.NotFound) || err == nil && (u.Epoch != sess.Epoch || u.Disabled) {
		return u, errRefresh()
	}
	return u, fault.Wrap("read user "+sess.User, err)
}

type logOutInput struct {
	Body *struct {
		RefreshToken string `json:"refreshToken,omitempty" maxLength:"256" doc:"Ends the session of this token as well, when it is another one of the caller"`
	}
}

func (s *service) logOut(ctx context.Context, in *logOutInput) (Message, error) {
	caller := identity.From(ctx)
	ctx = table.Within(ctx, identity.SessionPrefix)
	if in.Body != nil && in.Body.RefreshToken != "" {
		if err := s.endOther(ctx, in.Body.RefreshToken, caller.User); err != nil {
			return Message{}, err
		}
	}
	if caller.Session != "" {
		if err := s.end(ctx, caller.Session); err != nil {
			return Message{}, err
		}
	}
	return Message{"the session has ended"}, nil
}

// endOther ends the session of a refresh token, if it is the caller's. A token that is none is no reason to stay logged in.
func (s *service) endOther(ctx context.Context, text, user string) error {
	t, err := parseRefresh(text, s.Settings.Pepper)
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	sess, err := table.Read[identity.Session](ctx, s.Table, identity.SessionKey(t.session))
	if fault.Is(err, fault.NotFound) || err == nil && sess.User != user {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read session %s: %w", t.session, err)
	}
	return s.end(ctx, sess.ID)
}
