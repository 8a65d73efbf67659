package e2e

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/testkit/tabletest"
)

// joined walks from an invitation of a stranger to the end of the organization.
func joined(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	ada := e.NewOwner("ada@example.com")
	const email = "eve@example.com"
	ada.Call(http.MethodPost, "/users", map[string]string{"email": email, "name": "Eve"}, nil)
	ada.Call(http.MethodPatch, testenv.UserPath(email), map[string]string{"role": "operator"}, nil)
	var invited struct {
		Status        string `json:"status"`
		EmailVerified bool   `json:"emailVerified"`
	}
	eve := e.NewClient()
	eve.Call(http.MethodPost, "/auth/signup",
		map[string]string{"email": email, "password": testenv.Password, "name": "Eve"}, nil)
	eve.Call(http.MethodPatch, "/auth/otp/validate", map[string]string{"email": email, "otp": e.WaitForCode(email)},
		nil)
	eve.LogIn(email, "")
	ada.Call(http.MethodGet, testenv.UserPath(email), nil, &invited)
	if invited.Status != "invited" || invited.EmailVerified {
		t.Errorf("before eve accepts, ada sees %+v", invited)
	}
	eve.AcceptInvitation(ada.Org)
	eve.LogIn(email, "")
	eve.Call(http.MethodGet, "/resources", nil, nil)
	eve.CallRefused(http.StatusForbidden, http.MethodGet, "/users", nil)
	eve.Call(http.MethodPatch, "/users/me", map[string]string{"name": "Eve E."}, nil)
	ada.Call(http.MethodPatch, testenv.UserPath(email), map[string]string{"role": "admin", "status": "disabled"}, nil)
	eve.CallRefused(http.StatusUnauthorized, http.MethodGet, "/users", nil)
	ada.Call(http.MethodPatch, testenv.UserPath(email), map[string]string{"status": "active"}, nil)
	var all struct {
		Items []struct {
			Name   string `json:"name"`
			Status string `json:"status"`
		} `json:"items"`
		Total int `json:"total"`
	}
	eve.Call(http.MethodGet, "/users", nil, &all)
	if all.Total != 2 || len(all.Items) != 2 || all.Items[1].Name != "Eve E." || all.Items[1].Status != "active" {
		t.Errorf("users: %+v", all)
	}
	eve.Call(http.MethodDelete, "/users/me", nil, nil)
	eve.CallRefused(http.StatusUnauthorized, http.MethodGet, "/users", nil)
	ada.CallRefused(http.StatusConflict, http.MethodDelete, "/users/me", nil)
	ada.Call(http.MethodPut, "/organisation",
		map[string]any{"name": "Looms", "currency": "EUR", "savingsRealism": 0.55}, nil)
	var org struct {
		Currency       string  `json:"currency"`
		SavingsRealism float64 `json:"savingsRealism"`
	}
	ada.Call(http.MethodGet, "/organisation", nil, &org)
	if org.Currency != "EUR" || org.SavingsRealism != 0.55 {
		t.Errorf("settings: %+v", org)
	}
	ada.Call(http.MethodDelete, "/organisation?confirm=Looms", nil, nil)
	ada.CallRefused(http.StatusUnauthorized, http.MethodGet, "/organisation", nil)
	e.Eventually("the first pass of the erasure", func() bool {
		k := identity.OrganisationKey(ada.Org) // the last thing that it takes
		_, err := e.Platform.Table.Get(table.Within(t.Context(), k.PK), k)
		return fault.Is(err, fault.NotFound)
	})
}

// check 8: a locked or removed user is refused on the next request with every credential; a demoted user can do less.
func TestWhatIsTakenFromAMemberIsTakenAtOnce(t *testing.T) {
	e := testenv.Start(t, testenv.Setup{})
	ada := e.NewOwner("ada@example.com")
	const email = "eve@example.com"
	eve := ada.InviteColleague(email, grant.Admin)
	eve.Call(http.MethodGet, "/users", nil, nil)
	var pat struct {
		Token string `json:"token"`
	}
	eve.Call(http.MethodPost, "/personal-access-tokens", map[string]string{"name": "laptop"}, &pat)
	robot := e.NewClient()
	robot.Token = pat.Token
	robot.Call(http.MethodGet, "/users", nil, nil)
	out := func(after string) {
		t.Helper()
		if err := eve.Do(t.Context(), http.MethodGet, "/users", nil, nil); err == nil ||
			!strings.Contains(err.Error(), " 401 ") {
			t.Errorf("%s: the session answers %v", after, err)
		}
		// A personal access token belongs to its user, and is valid for that user's organizations.
		if err := robot.Do(t.Context(), http.MethodGet, "/users", nil, nil); err == nil ||
			!strings.Contains(err.Error(), " 40") {
			t.Errorf("%s: the token answers %v", after, err)
		}
	}
	ada.Call(http.MethodPatch, testenv.UserPath(email), map[string]string{"status": "disabled"}, nil)
	out("locked out")
	ada.Call(http.MethodPatch, testenv.UserPath(email), map[string]string{"status": "active"}, nil)
	eve.Call(http.MethodGet, "/users", nil, nil)
	robot.Call(http.MethodGet, "/users", nil, nil)
	ada.Call(http.MethodPatch, testenv.UserPath(email), map[string]string{"role": "viewer"}, nil)
	eve.CallRefused(http.StatusForbidden, http.MethodGet, "/users", nil)
	robot.CallRefused(http.StatusForbidden, http.MethodGet, "/users", nil)
	eve.Call(http.MethodGet, "/resources", nil, nil)
	ada.Call(http.MethodDelete, testenv.UserPath(email), nil, nil)
	out("removed")
	ada.CallRefused(http.StatusNotFound, http.MethodGet, testenv.UserPath(email), nil)
}

// check 43: two owners who remove each other over HTTP leave one.
func TestTwoOwnersRemoveEachOtherOverHTTP(t *testing.T) {
	e := testenv.Start(t, testenv.Setup{})
	ada := e.NewOwner("ada@example.com")
	bob := ada.InviteColleague("bob@example.com", grant.Owner)
	done := make(chan error, 2)
	go func() {
		done <- ada.Do(context.Background(), http.MethodDelete, testenv.UserPath("bob@example.com"), nil, nil)
	}()
	go func() {
		done <- bob.Do(context.Background(), http.MethodDelete, testenv.UserPath("ada@example.com"), nil, nil)
	}()
	first, second := <-done, <-done
	if (first == nil) == (second == nil) {
		t.Errorf("%v, %v", first, second)
	}
	a, err := table.Read[identity.Access](table.WithOrg(t.Context(), ada.Org), e.Platform.Table,
		identity.AccessKey(ada.Org))
	if err != nil || a.Owners != 1 || a.Members != 1 {
		t.Errorf("%+v, %v", a, err)
	}
}

// A deleted organization accepts no caller from that moment and does no work. Half an hour later all its records are
// gone.
func TestTheEndOfAnOrganization(t *testing.T) {
	t.Parallel()
	clock := &testenv.Ahead{}
	dir := t.TempDir()
	e := testenv.Start(t, testenv.Setup{Dir: dir, Clock: clock})
	ada, other := e.NewOwner("ada@example.com"), e.NewOwner("other@example.com")
	bob := ada.InviteColleague("bob@example.com", grant.Admin)
	ada.Call(http.MethodPost, "/users", map[string]string{"email": "late@example.com"}, nil)
	account := ada.ConnectAccount("111122223333", testenv.FastCloud(200))
	kept := other.ConnectAccount("111122223333", testenv.FastCloud(200))
	testenv.UseEverything(t, e, ada)
	testenv.UseEverything(t, e, other)
	clock.Advance(time.Minute)

	bob.CallRefused(http.StatusForbidden, http.MethodDelete, "/organisation",
		map[string]string{"confirm": "Org of ada@example.com"})
	ada.CallRefused(http.StatusBadRequest, http.MethodDelete, "/organisation", nil)
	var ended struct {
		ID string `json:"id"`
	}
	ada.Call(http.MethodDelete, "/organisation", map[string]string{"confirm": "Org of ada@example.com"}, &ended)
	if ended.ID != ada.Org {
		t.Errorf("ended %+v", ended)
	}
	for who, c := range map[string]*testenv.Client{"its owner": ada, "its admin": bob} {
		if err := c.Do(t.Context(), http.MethodGet, "/resources", nil, nil); err == nil ||
			!strings.Contains(err.Error(), " 401 ") {
			t.Errorf("%s: %v", who, err)
		}
	}
	again := e.NewClient()
	again.LogIn("ada@example.com", "")
	var orgs []any
	e.Eventually("the first pass", func() bool {
		again.Call(http.MethodGet, "/organisations", nil, &orgs)
		return len(orgs) == 0
	})
	again.Call(http.MethodPost, "/organisations", map[string]string{"name": "Org of ada@example.com"}, nil)
	late := e.NewClient()
	if _, err := auth.CreateVerifiedUser(t.Context(), e.Platform, "late@example.com", testenv.Password,
		"Late"); err != nil {
		t.Fatal(err)
	}
	late.LogIn("late@example.com", "")
	var waiting struct {
		Total int `json:"total"`
	}
	late.Call(http.MethodGet, "/invitations", nil, &waiting)
	if waiting.Total != 0 {
		t.Errorf("%d invitations to an organization that ended", waiting.Total)
	}

	clock.Advance(erasure.Settling + time.Minute)
	e.Restart() // it carries on, and its wait is over
	e.Eventually("the end of the erasure", func() bool {
		k := identity.AccessKey(ada.Org)
		_, err := e.Platform.Table.Get(table.Within(t.Context(), k.PK), k)
		return fault.Is(err, fault.NotFound)
	})
	other = other.Reconnect()
	other.LogIn("other@example.com", other.Org)
	var whole struct {
		ResourceCount int `json:"resourceCount"`
	}
	if other.Call(http.MethodGet, "/cloud-accounts/"+kept, nil, &whole); whole.ResourceCount != 200 {
		t.Errorf("the other organization: %+v", whole)
	}
	e.Stop()
	cleared(t, dir, clock)
	mine, theirs := keysWith(t, dir, ada.Org, account), keysWith(t, dir, other.Org, kept)
	if len(mine) > 0 || len(theirs) < 20 {
		t.Errorf("%d keys of the other organization are left, and of the one that ended:\n%s", len(theirs),
			strings.Join(mine, "\n"))
	}
}

// cleared removes expired rows from the store file, as the service does every minute.
func cleared(t *testing.T, dir string, c *testenv.Ahead) {
	t.Helper()
	s, err := table.Open(filepath.Join(dir, "store.db"), table.Options{Clock: c, SweepEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	if err = s.Close(); err != nil {
		t.Error(err)
	}
}

// keysWith returns the keys in the store file that have one of the texts in them.
func keysWith(t *testing.T, dir string, texts ...string) []string {
	t.Helper()
	return slices.DeleteFunc(tabletest.StoredKeys(t, filepath.Join(dir, "store.db")), func(key string) bool {
		return !slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(key, text) })
	})
}
