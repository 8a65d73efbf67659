package sessions

import (
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/fault"
)

// lifetime returns how long a session of the user lasts, however often it is refreshed. A session of single sign-on
// lasts as long as the organization says, so that its identity provider is asked again.
func (a userOrganisations) lifetime(sso string) time.Duration {
	for _, o := range a.organisations {
		if sso != "" && o.ID == sso {
			return min(absoluteTTL, identity.SSOLifetime(o.SSOHours))
		}
	}
	return absoluteTTL
}

// checkAge returns an error if a session of single sign-on is older than its organization allows now. The setting may
// have been lowered since the session began.
func (s Sessions) checkAge(sess identity.Session, a userOrganisations) error {
	if sess.SSO == "" || s.Clock.Now().Before(sess.Created.Add(a.lifetime(sess.SSO))) {
		return nil
	}
	return fault.New(fault.Unauthenticated, "refreshToken: the session has reached the age at which your organization "+
		"wants a new sign-in at its identity provider; begin with POST /auth/saml/initiate")
}

// accessTTL returns how long an access token of the session that is made now is valid: not longer than the session.
func (s Sessions) accessTTL(sess identity.Session) time.Duration {
	left := time.Unix(sess.Absolute, 0).Sub(s.Clock.Now())
	return min(token.TTL, max(left, 0))
}
