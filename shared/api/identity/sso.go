package identity

import (
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// SSOKey returns the key of an organization's single sign-on settings. They may use a role as the default role.
func SSOKey(org string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "SSO", SK: "SETUP"}
}

// DefaultSSOHours is how many hours a session of single sign-on lasts by default. Then its user must sign in at the
// identity provider again.
const DefaultSSOHours = 12

// SSOLifetime returns how long a session of single sign-on lasts. hours is the setting of the organization; 0 means
// DefaultSSOHours.
func SSOLifetime(hours int) time.Duration {
	if hours <= 0 {
		hours = DefaultSSOHours
	}
	return time.Duration(hours) * time.Hour
}

// demandsSSO reports whether the domain of the address is one of the domains.
func demandsSSO(domains []string, address string) bool {
	_, domain, _ := strings.Cut(address, "@")
	return slices.Contains(domains, domain)
}

// DemandsSSO reports whether a user with the address must sign in through the identity provider of the organization.
// Owners are exempt, which the caller checks.
func (a Access) DemandsSSO(address string) bool { return demandsSSO(a.SSODomains, address) }

// DemandSSO returns the writes that store which domains of an organization must use single sign-on, and how many hours
// its sessions last, where log-ins and requests are judged by them. Without domains single sign-on is not mandatory;
// hours is 0 if the organization has no single sign-on.
func DemandSSO(org string, domains []string, hours int) []table.Write {
	changes := []table.Change{table.Remove("ssoDomains"), table.Remove("ssoHours")}
	if len(domains) > 0 {
		changes[0] = table.Set("ssoDomains", domains)
	}
	if hours > 0 {
		changes[1] = table.Set("ssoHours", hours)
	}
	return []table.Write{
		table.Update(OrganisationKey(org), changes, table.Exists()),
		table.Update(AccessKey(org), changes, table.Exists()),
	}
}
