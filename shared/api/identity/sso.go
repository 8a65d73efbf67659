package identity

import "lamplighter.dev/shared/engine/table"

// SSOKey returns the key of an organization's single sign-on settings. They may use a role as the default role.
func SSOKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SSO", SK: "SETUP"}
}
