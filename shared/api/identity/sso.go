package identity

import "lamplighter.dev/shared/engine/table"

// SSOKey is where an organization's single sign-on is set up. Its default role is among what a role can be in use by.
func SSOKey(org string) table.Key {
	return table.Key{PK: table.TenantPK(org) + "SSO", SK: "SETUP"}
}
