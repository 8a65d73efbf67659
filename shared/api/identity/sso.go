package identity

import "lamplighter.dev/shared/engine/table"

// SSOKey returns where an organization's single sign-on is set up. Its default role is among what a role can be in use by.
func SSOKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SSO", SK: "SETUP"}
}
