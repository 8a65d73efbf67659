package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/ratelimit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// passwordChecksPerUser limits how often a session may state a wrong current password. It keeps a stolen access token
// from being used to guess the password.
var passwordChecksPerUser = ratelimit.Rule{Name: "password-check", Max: 10, Per: 15 * time.Minute}

func registerPasswordChange(g *rest.Group, s *service) {
	rest.Handle(g, rest.Op{
		ID: "changePassword", Method: http.MethodPost, Path: "/auth/password/change",
		Summary: "Change the caller's password",
		Description: "All other sessions of the caller end; the session of the request goes on. Personal access " +
			"tokens keep working: DELETE /personal-access-tokens/{tokenID} revokes one. 403: currentPassword is " +
			"wrong, or was wrong ten times within 15 minutes, or the account has no password, or the session is one " +
			"of single sign-on. The operation needs the access token of a session.",
		SignedIn: true, Session: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
	}, s.changePassword)
}

// PasswordChange is the body of POST /auth/password/change.
type PasswordChange struct {
	Current  string `json:"currentPassword" minLength:"1" maxLength:"1024" doc:"The password until now"`
	Password string `json:"password" minLength:"12" maxLength:"128" doc:"The new password, 12 to 128 characters"`
}

// changedPassword is the audit row of a change.
type changedPassword struct {
	User    string `json:"userID"`
	Session string `json:"onlySessionID"` // all others have ended
}

type passwordChangeInput struct{ Body PasswordChange }

func (s *service) changePassword(ctx context.Context, in *passwordChangeInput) (Message, error) {
	c := identity.CallerFrom(ctx)
	if c.SSO {
		return Message{}, errSSOAccount("change the password of the account")
	}
	if err := checkPassword(in.Body.Password, c.Email); err != nil {
		return Message{}, err
	}
	if in.Body.Password == in.Body.Current {
		return Message{}, fault.New(fault.Invalid, "password: it is the current password; choose another one")
	}
	ctx = table.Within(ctx, identity.UserPrefix+c.User, identity.SessionKey(c.Session).PK, codePrefix,
		ratelimit.Prefix, mail.Prefix)
	u, err := s.confirmPassword(ctx, c.User, in.Body.Current)
	if err != nil {
		return Message{}, err
	}
	if err = s.storeChangedPassword(ctx, u, c.Session, in.Body.Password); err != nil {
		return Message{}, err
	}
	audit.NoteChange(ctx, audit.Change{Target: u.ID, After: changedPassword{u.ID, c.Session}})
	return Message{"the password is changed, and all of your other sessions have ended"}, nil
}

// errSSOAccount returns the error for a session of single sign-on that would act on the whole account. The identity
// provider of one organization must not control the account in others.
func errSSOAccount(act string) error {
	return fault.New(fault.Denied, "a session of single sign-on cannot %s: log in with your own account",
		act)
}

// confirmPassword returns the user, if the current password is right. It counts a failure before the password is
// checked, so that concurrent guesses get no more tries than sequential ones.
func (s *service) confirmPassword(ctx context.Context, user, current string) (identity.User, error) {
	at := s.Clock.Now()
	if err := s.takeRateLimit(ctx, passwordChecksPerUser, user); err != nil {
		return identity.User{}, err
	}
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(user))
	if err != nil {
		return u, fmt.Errorf("read user %s: %w", user, err)
	}
	if u.Password == "" {
		return u, fault.New(fault.Denied, "the account has no password: set one with POST /auth/password/forget")
	}
	right, _, err := s.passwords.verifyPassword(ctx, current, u.Password)
	switch {
	case err != nil:
		return u, fmt.Errorf("check password of %s: %w", user, err)
	case !right:
		return u, fault.New(fault.Denied, "currentPassword: it is wrong; if you have forgotten it, set a new one with "+
			"POST /auth/password/forget")
	}
	if err = ratelimit.ReturnUse(ctx, s.Table, at, passwordChecksPerUser, user); err != nil {
		s.Log.ErrorContext(ctx, "a limit was not given back", "rule", passwordChecksPerUser.Name, "error", err.Error())
	}
	return u, nil
}

// storeChangedPassword sets a new password and mails the user. It ends all sessions but one by increasing the user's
// session epoch, and makes a mailed code for a reset invalid.
func (s *service) storeChangedPassword(ctx context.Context, u identity.User, session, password string) error {
	hash, err := s.passwords.hashPassword(ctx, password)
	if err != nil {
		return err
	}
	now := s.Clock.Now()
	post, err := mail.QueueMail(ctx, s.Sealer, now, mail.Mail{Template: mail.PasswordChanged, To: u.Email})
	if err != nil {
		return err
	}
	err = s.Table.Transact(ctx,
		table.Update(identity.UserKey(u.ID), []table.Change{
			table.Set("password", hash), table.Set("updated", now), table.Add("sessionEpoch", 1),
		}, table.Equal("password", u.Password), table.Equal("epoch", u.Epoch)),
		table.Update(identity.SessionKey(session), []table.Change{table.Set("sessionEpoch", u.SessionEpoch+1)},
			table.Equal("state", identity.SessionLive), table.Equal("epoch", u.Epoch)),
		table.Delete(s.codeKey(passwordReset, u.Email)), post)
	if _, raced := errors.AsType[*table.ConditionError](err); raced {
		return fault.New(fault.Conflict,
			"the password was changed, or the session ended, at the same time: log in again")
	}
	return fault.Wrap("change password of "+u.ID, err)
}
