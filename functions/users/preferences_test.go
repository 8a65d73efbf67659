package users

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestPreferences_ChangeOneByOneAndAreTheCallersOwn(t *testing.T) {
	s := newFixture(t)
	change := func(body string) Profile { return apitest.Data[Profile](s.as("ada", "PATCH /users/me", "", body)) }
	change(`{"preferences":{"theme":"dark","startPage":"/resources?status=running","timeZone":"Europe/Berlin"}}`)
	got := change(`{"preferences":{"startPage":null},"name":"Ada L"}`)
	want := identity.ConsolePreferences{Theme: "dark", TimeZone: "Europe/Berlin"}
	if got.Preferences != want || got.Name != "Ada L" {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got = apitest.Data[Profile](s.as("ada", "GET /users/me", "", "")); got.Preferences != want {
		t.Errorf("stored %+v, want %+v", got.Preferences, want)
	}
	s.User("bob")
	other := apitest.Data[Profile](s.as("bob", "GET /users/me", "", "")).Preferences
	if other != (identity.ConsolePreferences{}) {
		t.Errorf("another user has %+v", other)
	}
	for name, c := range map[string]struct{ body, says string }{
		"a theme that there is not":   {`{"theme":"pink"}`, "theme"},
		"another host":                {`{"startPage":"//evil.example"}`, "startPage"},
		"another host by a backslash": {`{"startPage":"/\\evil.example"}`, "startPage"},
		"an address":                  {`{"startPage":"https://evil.example"}`, "startPage"},
		"a script":                    {`{"startPage":"javascript:alert(1)"}`, "startPage"},
		"a path that is too long":     {`{"startPage":"/` + strings.Repeat("a", 1000) + `"}`, "startPage"},
		"a zone that there is not":    {`{"timeZone":"Mars/Olympus"}`, "timeZone"},
		"a file in place of a zone":   {`{"timeZone":"../../etc/passwd"}`, "timeZone"},
		"the zone of the service":     {`{"timeZone":"Local"}`, "timeZone"},
		"another type than an object": {`"dark"`, "preferences"},
	} {
		t.Run(name, func(t *testing.T) {
			s.as("ada", "PATCH /users/me", "", `{"preferences":`+c.body+`}`).Want(400, c.says)
		})
	}
	if got = apitest.Data[Profile](s.as("ada", "GET /users/me", "", "")); got.Preferences != want {
		t.Errorf("refusals changed them to %+v", got.Preferences)
	}
}
