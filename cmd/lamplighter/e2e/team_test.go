package e2e

import (
	"net/http"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/api/identity/grant"
)

// teamed gives a colleague the right to operate one team instead of the organization. The colleague then sees only
// the resources of that team.
func teamed(t *testing.T, s testenv.Setup) {
	t.Helper()
	e := testenv.Start(t, s)
	ada := e.NewOwner("ada@example.com")
	ada.ConnectAccount("111122223333", testenv.FastCloud(200))
	some := testenv.RunningInstances(t, ada, 3)
	const email = "eve@example.com"
	eve := ada.InviteColleague(email, grant.Viewer)
	var team struct {
		ID string `json:"id"`
	}
	ada.Call(http.MethodPost, "/teams",
		map[string]any{"name": "Web", "members": []string{email}, "resources": []string{some[0].ID, some[1].ID}}, &team)
	var all struct {
		Items []struct {
			ID    string `json:"id"`
			Email string `json:"email"`
		} `json:"items"`
	}
	ada.Call(http.MethodPost, "/assignments",
		map[string]string{"email": email, "roleID": grant.Operator, "scope": "team:" + team.ID}, nil)
	ada.Call(http.MethodGet, "/assignments?email="+email, nil, &all)
	ada.Call(http.MethodDelete, "/assignments/"+all.Items[0].ID, nil, nil) // the role from the invitation

	var seen []testenv.Resource
	eve.Call(http.MethodGet, "/resources", nil, &seen)
	var counted struct {
		Total int `json:"total"`
	}
	eve.Call(http.MethodGet, "/resources/summary", nil, &counted)
	if len(seen) != 2 || counted.Total != 2 {
		t.Errorf("%d resources are listed, %d counted", len(seen), counted.Total)
	}
	eve.CallRefused(http.StatusNotFound, http.MethodGet, "/resources/"+some[2].ID, nil)
	eve.CallRefused(http.StatusNotFound, http.MethodPost, "/actions", some[2].Order("stop"))
	eve.CallRefused(http.StatusForbidden, http.MethodGet, "/cloud-accounts", nil)
	testenv.SubmitAction(eve, some[0], "stop")
	e.WaitSettled()
	eve.Call(http.MethodGet, "/state-history", nil, &counted)
	if counted.Total != 1 {
		t.Errorf("%d changes of state", counted.Total)
	}
	ada.CallRefused(http.StatusConflict, http.MethodDelete, "/teams/"+team.ID, nil)
	ada.Call(http.MethodDelete, "/teams/"+team.ID+"/resources/"+some[0].ID, nil, nil)
	eve.CallRefused(http.StatusNotFound, http.MethodGet, "/resources/"+some[0].ID, nil)
	ada.Call(http.MethodDelete, testenv.UserPath(email), nil, nil)
	ada.Call(http.MethodGet, "/teams/"+team.ID+"/members", nil, &counted)
	if counted.Total != 0 {
		t.Errorf("%d members after the only one was removed from the organization", counted.Total)
	}
	ada.Call(http.MethodDelete, "/teams/"+team.ID, nil, nil)
}
