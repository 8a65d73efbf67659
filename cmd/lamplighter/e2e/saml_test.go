package e2e

import (
	"errors"
	"net/http"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions/auth"
)

// confined checks that a SAML login cannot see or change the member's records outside the organization: the identity
// provider must not get into anything else as its user.
func confined(t *testing.T, member *testenv.Client, foreign string) {
	t.Helper()
	var tokens []struct {
		ID string `json:"id"`
	}
	member.Call(http.MethodGet, "/personal-access-tokens", nil, &tokens)
	if len(tokens) != 0 {
		t.Errorf("sees tokens of elsewhere: %+v", tokens)
	}
	member.CallRefused(http.StatusNotFound, http.MethodDelete, "/personal-access-tokens/"+foreign, nil)
	member.CallRefused(http.StatusForbidden, http.MethodPost, "/organisations", map[string]string{"name": "Another"})
	var here struct {
		ID    string `json:"id"`
		Token string `json:"token"`
	}
	member.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "Of here"}, &here)
	session := member.Token
	member.Token = here.Token
	member.Call(http.MethodGet, "/personal-access-tokens", nil, &tokens)
	if len(tokens) != 1 || tokens[0].ID != here.ID {
		t.Errorf("a token of here sees %+v", tokens)
	}
	member.Token = session
	member.Call(http.MethodDelete, "/personal-access-tokens/"+here.ID, nil, nil)
}

// TestSingleSignOnFromTheFirstSettingToThePasswordThatOpensNothing runs all steps of single sign-on through the
// gateway.
func TestSingleSignOnFromTheFirstSettingToThePasswordThatOpensNothing(t *testing.T) {
	t.Parallel()
	e := testenv.Start(t, testenv.Setup{})
	const ada = "ada@works.test"
	owner, o := e.NewOwner("owner@works.test"), testenv.OpenOffice(t, e)
	if _, err := auth.CreateVerifiedUser(t.Context(), e.Platform, ada, testenv.Password, "Ada"); err != nil {
		t.Fatal(err)
	}

	elsewhere := e.NewClient()
	elsewhere.LogIn(ada, "")
	elsewhere.Call(http.MethodPost, "/organisations", map[string]string{"name": "Ada's own"}, nil)
	var own struct {
		ID string `json:"id"`
	}
	elsewhere.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "Ada's own"}, &own)

	var settings struct {
		Domains []struct {
			TXTName  string `json:"txtName"`
			TXTValue string `json:"txtValue"`
			Verified bool   `json:"verified"`
		} `json:"domains"`
	}
	owner.Call(http.MethodPut, "/organisation/saml",
		map[string]any{"metadataURL": o.MetadataURL.String(), "domains": []string{"works.test"}}, &settings)
	e.DNS.Publish(settings.Domains[0].TXTName, settings.Domains[0].TXTValue)
	owner.Call(http.MethodPut, "/organisation/saml", map[string]any{"enforced": true, "defaultRole": "operator"},
		&settings)
	if !settings.Domains[0].Verified {
		t.Fatalf("%+v", settings)
	}

	var begun struct {
		RedirectURL string `json:"redirectURL"`
	}
	e.NewClient().Call(http.MethodPost, "/auth/saml/initiate", map[string]string{"email": ada}, &begun)
	form := o.Signs(begun.RedirectURL, ada)
	member := o.Enters(http.StatusOK, form)
	o.Enters(http.StatusUnauthorized, form)
	var orgs []struct {
		ID string `json:"id"`
	}
	member.Call(http.MethodGet, "/organisations", nil, &orgs)
	if len(orgs) != 1 || orgs[0].ID != owner.Org {
		t.Errorf("a member of %+v", orgs)
	}
	confined(t, member, own.ID)
	member.CallRefused(http.StatusForbidden, http.MethodPut, "/organisation/saml", map[string]any{"enforced": false})

	var refused *local.StatusError
	if _, err := e.NewClient().Login(t.Context(), ada, testenv.Password, owner.Org); !errors.As(err, &refused) ||
		refused.Status != http.StatusForbidden {
		t.Errorf("the password opens the organization: %v", err)
	}
	owner.LogIn("owner@works.test", owner.Org)
	owner.Call(http.MethodDelete, "/organisation/saml", nil, nil)
	if _, err := e.NewClient().Login(t.Context(), ada, testenv.Password, owner.Org); err != nil {
		t.Errorf("after it ended: %v", err)
	}
}
