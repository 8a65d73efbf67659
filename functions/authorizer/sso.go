package authorizer

import "lamplighter.dev/shared/api/identity"

// checkSSO refuses a session that the organization's single sign-on does not admit at this moment: one that did not
// begin at the identity provider, of a member who must use it and is no owner; and one that began there too long ago.
// It reads nothing: the settings are a copy in the row of the roles.
func (a *authorizer) checkSSO(s identity.Session, u identity.User, in orgRights) error {
	if s.SSO != "" {
		if end := s.Created.Add(identity.SSOLifetime(in.access.SSOHours)); !a.Clock.Now().Before(end) {
			return refuseRequest("session " + s.ID + " must ask its identity provider again")
		}
		return nil
	}
	if in.access.DemandsSSO(u.Email) && !in.owner {
		return refuseRequest("session " + s.ID + " did not begin at the identity provider that " + s.Org + " demands")
	}
	return nil
}
