package main

import (
	"net/http"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

// TestANewcomerSignsUpAndWorks walks from the sign-up to the log-out, as a person with curl does.
func TestANewcomerSignsUpAndWorks(t *testing.T) {
	t.Parallel()
	e := testenv.Start(t, testenv.Setup{})
	const email = "ada@example.com"
	c := e.Anonymous()
	person := map[string]string{"email": email, "password": testenv.Password, "name": "Ada"}
	c.Call(http.MethodPost, "/auth/signup", person, nil)
	c.Refused(http.StatusForbidden, http.MethodPost, "/auth/login", person)
	c.Call(http.MethodPatch, "/auth/otp/validate", map[string]string{"email": email, "otp": e.Code(email)}, nil)
	c.Enter(email, "")
	var org struct {
		ID string `json:"id"`
	}
	c.Call(http.MethodPost, "/organisations", map[string]string{"name": "Engines"}, &org)
	c.Enter(email, org.ID)
	var orgs []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	c.Call(http.MethodGet, "/organisations", nil, &orgs)
	if len(orgs) != 1 || orgs[0].ID != org.ID || orgs[0].Name != "Engines" {
		t.Errorf("organizations: %+v", orgs)
	}
	c.Call(http.MethodPost, "/auth/logout", map[string]string{}, nil)
	c.Refused(http.StatusUnauthorized, http.MethodGet, "/organisations", nil)
}

// TestACloudIsConnectedAndDiscovered connects a cloud, and finds it as it was after a restart.
func TestACloudIsConnectedAndDiscovered(t *testing.T) {
	t.Parallel()
	e := testenv.Start(t, testenv.Setup{})
	c := e.Owner("grace@example.com")
	id := c.Connect("111122223333", testenv.Fast(200))
	e.Restart()
	c = c.Again()
	var account struct {
		Status        string `json:"status"`
		ResourceCount int    `json:"resourceCount"`
	}
	c.Call(http.MethodGet, "/cloud-accounts/"+id, nil, &account)
	if account.Status != "connected" || account.ResourceCount != 200 {
		t.Errorf("after a restart: %+v", account)
	}
}
