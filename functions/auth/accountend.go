package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/people/membership"
)

func registerAccountEnd(g *rest.Group, s *service) {
	rest.Handle(g, rest.Op{
		ID: "deleteAccount", Method: http.MethodDelete, Path: "/auth/account", Summary: "Delete the caller's account",
		Description: "From then on all sessions and personal access tokens of the user are refused, and the address " +
			"can sign up again. Memberships, places in teams, mail settings, personal channels, private views, links " +
			"to Google and " +
			"GitHub, and invitations of the address are removed within a minute, everything else that belongs to " +
			"the account within half an hour. Records of organizations that say who did something, such as the " +
			"audit log, stay as they are. confirm is the user's own address, in the body or, for clients that send " +
			"no body with DELETE, in the query. 409: the user is the last owner of an organization. 403: the " +
			"session is one of single sign-on. The operation needs the access token of a session.",
		SignedIn: true, Session: true, StepUp: true,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
	}, s.deleteAccount)
}

// AccountConfirmation is the body of DELETE /auth/account, which may be left out.
type AccountConfirmation struct {
	Confirm string `json:"confirm,omitempty" maxLength:"254" doc:"The user's own address" example:"ada@example.com"`
}

type deleteAccountInput struct {
	Confirm string `query:"confirm" maxLength:"254" doc:"The user's own address, where the body cannot carry it"`
	Body    *AccountConfirmation
}

// deletedAccount is the account as the audit log of the session's organization records it.
type deletedAccount struct {
	User  string `json:"userID"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// endTries limits how often the end of an account starts again because an organization of the user changed meanwhile.
const endTries = 5

func (s *service) deleteAccount(ctx context.Context, in *deleteAccountInput) (rest.Deleted, error) {
	c := identity.CallerFrom(ctx)
	if c.SSO {
		return rest.Deleted{}, errSSOAccount("delete the account")
	}
	confirm := in.Confirm
	if in.Body != nil {
		confirm = cmp.Or(in.Body.Confirm, confirm)
	}
	if address, err := identity.NormalizeAddress(confirm); err != nil || address != c.Email {
		return rest.Deleted{}, fault.New(fault.Invalid, "confirm: %.254q is not your own address, %q: send that one",
			confirm, c.Email)
	}
	ctx = table.Within(ctx, identity.UserPrefix+c.User, identity.AddressPrefix, mail.Prefix)
	u, err := table.Read[identity.User](ctx, s.Table, identity.UserKey(c.User))
	if fault.Is(err, fault.NotFound) {
		return rest.Deleted{}, erasure.ErrAccountEnded
	}
	if err != nil {
		return rest.Deleted{}, fmt.Errorf("read user %s: %w", c.User, err)
	}
	audit.NoteChange(ctx, audit.Change{Target: u.ID, Before: deletedAccount{u.ID, u.Email, u.Name}})
	return rest.Deleted{ID: u.ID}, s.endAccount(ctx, u)
}

// endAccount ends the account of u. It gives up the ownership of organizations in the same transaction, so that of two
// owners who delete their accounts at the same time one stays.
func (s *service) endAccount(ctx context.Context, u identity.User) error {
	post, err := mail.QueueMail(ctx, s.Sealer, s.Clock.Now(), mail.Mail{Template: mail.AccountDeleted, To: u.Email})
	if err != nil {
		return err
	}
	for range endTries {
		var releases []table.Write
		var within []string
		if releases, within, err = membership.New(s.Platform).ReleaseOwnerships(ctx, u.ID); err != nil {
			return err
		}
		err = erasure.BeginAccountErasure(table.Within(ctx, within...), s.Platform, u, append(releases, post)...)
		if _, changed := errors.AsType[*table.ConditionError](err); !changed {
			return err
		}
	}
	return fault.NewWithCause(fault.Conflict, err, "your organizations are being changed at the moment: try again")
}
