package authorizer

import (
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

// Single sign-on that is demanded applies to the next request of a session that is under way, without another read.
func TestEnforcedSSO_AppliesToTheNextRequest(t *testing.T) {
	access := identity.AccessKey(org)
	for name, c := range map[string]struct {
		domains []string
		session []table.Change
		grants  []grant.Grant
		want    string
	}{
		"a member with a password":             {[]string{"example.com"}, nil, nil, "Unauthorized"},
		"a member of another domain":           {[]string{"example.org"}, nil, nil, "Allow"},
		"a subdomain is another domain":        {[]string{"mail.example.com", "com"}, nil, nil, "Allow"},
		"an owner, who can mend the provider":  {[]string{"example.com"}, nil, apitest.Roles(grant.Owner), "Allow"},
		"an owner of a team is no owner":       {[]string{"example.com"}, nil, ownerOfTeam(), "Unauthorized"},
		"a member who came from the provider":  {[]string{"example.com"}, fromProvider(), nil, "Allow"},
		"an organization that demands nothing": {nil, nil, nil, "Allow"},
	} {
		t.Run(name, func(t *testing.T) {
			fx := apitest.New(t)
			header := enterOrg(fx, org)
			fx.Put(access, identity.Access{Members: 1, Owners: 1})
			if c.grants != nil {
				fx.Change(identity.MemberKey(org, user), table.Set("grants", c.grants))
			}
			if c.session != nil {
				fx.Change(identity.SessionKey(sid), append(c.session, table.Set("created", fx.Platform.Clock.Now()))...)
			}
			f := Handler(fx.Platform)
			if got := verdictOf(f, header); got != "Allow" {
				t.Fatalf("before it was demanded: %s", got)
			}
			if c.domains != nil {
				fx.Change(access, table.Set("ssoDomains", c.domains))
			}
			if got := verdictOf(f, header); got != c.want {
				t.Errorf("the next request: %s", got)
			}
		})
	}
}

func ownerOfTeam() []grant.Grant {
	return []grant.Grant{{ID: "g", Role: grant.Owner, Scope: "team:team_1"}}
}

func fromProvider() []table.Change { return []table.Change{table.Set("sso", org)} }

// A session of single sign-on ends after the hours that the organization has set, also if it began before the setting.
func TestSSOSession_EndsAfterTheHoursOfItsOrganization(t *testing.T) {
	for name, c := range map[string]struct {
		hours int
		last  time.Duration // that it works
	}{
		"without a setting, after 12": {0, 12 * time.Hour},
		"after one":                   {1, time.Hour},
		"after 24":                    {24, 24 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			fx := apitest.New(t)
			enterOrg(fx, org)
			now := fx.Platform.Clock.Now()
			fx.Change(identity.SessionKey(sid), table.Set("sso", org), table.Set("created", now),
				table.Set("abs", now.AddDate(0, 0, 30).Unix()))
			fx.Put(identity.AccessKey(org), identity.Access{SSOHours: c.hours})
			f := Handler(fx.Platform)
			fx.Clock.Advance(c.last - time.Second)
			if got := verdictOf(f, signToken(fx, org)); got != "Allow" {
				t.Errorf("a second before: %s", got)
			}
			fx.Clock.Advance(time.Second)
			if got := verdictOf(f, signToken(fx, org)); got != "Unauthorized" {
				t.Errorf("then: %s", got)
			}
		})
	}
}
