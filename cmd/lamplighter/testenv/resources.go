package testenv

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"lamplighter.dev/functions/auth"
)

// Resource is a resource as the API lists it, with the members that tests read.
type Resource struct {
	ID             string `json:"id"`
	UID            string `json:"uid"`
	Type           string `json:"type"`
	Provider       string `json:"provider"`
	CloudAccountID string `json:"cloudAccountID"`
	Region         string `json:"region"`
	Status         string `json:"status"`
	Schedulable    bool   `json:"schedulable"`
}

// Order returns the body of POST /actions.
func (r Resource) Order(verb string) map[string]string {
	return map[string]string{
		"type": verb, "resourceUID": r.UID, "provider": r.Provider, "resourceType": r.Type,
		"cloudAccountID": r.CloudAccountID, "region": r.Region,
	}
}

// RunningInstances returns n running EC2 instances that may be stopped.
func RunningInstances(t *testing.T, c *Client, n int) []Resource {
	t.Helper()
	return RunningInstancesOf(t, c, "", n)
}

// RunningInstancesOf returns n running EC2 instances of the account that may be stopped; "" is any account.
func RunningInstancesOf(t *testing.T, c *Client, account string, n int) []Resource {
	t.Helper()
	var all, out []Resource
	c.Call(http.MethodGet,
		"/resources?type=aws-ec2&status=running&schedulable=true&sort_by=name&limit=100&cloud_account_id="+account, nil,
		&all)
	for _, r := range all {
		if r.Type == "aws-ec2" && r.Status == "running" && r.Schedulable {
			out = append(out, r)
		}
	}
	if len(out) != len(all) || len(out) < n {
		t.Fatalf("of %d listed, %d are running EC2 instances that may be stopped; %d are needed", len(all), len(out), n)
	}
	return out[:n]
}

// SubmitAction submits an action and returns its id.
func SubmitAction(c *Client, r Resource, verb string) string {
	var out struct {
		ActionID string `json:"actionID"`
	}
	c.Call(http.MethodPost, "/actions", r.Order(verb), &out)
	return out.ActionID
}

// WantActionStatus fails the test unless the action has the status.
func WantActionStatus(t *testing.T, c *Client, id, want string) {
	t.Helper()
	var a struct {
		Status       string `json:"status"`
		ErrorMessage string `json:"errorMessage"`
	}
	c.Call(http.MethodGet, "/actions/"+id, nil, &a)
	if a.Status != want {
		t.Errorf("action %s is %s (%s), want %s", id, a.Status, a.ErrorMessage, want)
	}
}

// StateChange is an entry of the state history.
type StateChange struct {
	ResourceUID string    `json:"resourceUid"`
	State       string    `json:"state"`
	ChangedBy   string    `json:"changedBy"`
	ChangedAt   time.Time `json:"changedAt"`
}

// StateHistory returns the newest 100 entries of the state history of a resource.
func StateHistory(c *Client, uid string) []StateChange {
	var out struct {
		Items []StateChange `json:"items"`
	}
	c.Call(http.MethodGet, "/state-history?limit=100&resource_uid="+url.QueryEscape(uid), nil, &out)
	return out.Items
}

// UserPath returns the path of a user by their address.
func UserPath(email string) string { return "/users/" + url.PathEscape(email) }

// InviteColleague invites an address with a role into the organization of c, and returns a client of that user, who has
// accepted and works in that organization.
func (c *Client) InviteColleague(email, role string) *Client {
	c.t.Helper()
	c.Call(http.MethodPost, "/users", map[string]string{"email": email, "role": role}, nil)
	if _, err := auth.CreateVerifiedUser(c.t.Context(), c.env.Platform, email, Password, "Colleague"); err != nil {
		c.t.Fatal(err)
	}
	colleague := c.env.NewClient()
	colleague.LogIn(email, "")
	colleague.AcceptInvitation(c.Org)
	colleague.LogIn(email, c.Org)
	return colleague
}

// AcceptInvitation accepts the invitation to an organization.
func (c *Client) AcceptInvitation(org string) {
	c.t.Helper()
	var all struct {
		Items []struct {
			ID           string `json:"id"`
			Organisation struct {
				ID string `json:"id"`
			} `json:"organisation"`
		} `json:"items"`
	}
	c.Call(http.MethodGet, "/invitations", nil, &all)
	for _, inv := range all.Items {
		if inv.Organisation.ID == org {
			c.Call(http.MethodPost, "/invitations/"+inv.ID+"/accept", nil, nil)
			return
		}
	}
	c.t.Fatalf("there is no invitation to %s: %+v", org, all.Items)
}

// UseEverything makes records in the organization: a stopped group, an action, a team, a role, and their audit
// entries.
func UseEverything(t *testing.T, e *Env, c *Client) {
	t.Helper()
	all := RunningInstances(t, c, 3)
	var group struct {
		ID string `json:"id"`
	}
	c.Call(http.MethodPost, "/resource-groups",
		map[string]any{
			"name":    "batch",
			"members": []map[string]any{{"resourceID": all[0].ID}, {"resourceID": all[1].ID}},
		}, &group)
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": "stop", "groupID": group.ID}, nil)
	SubmitAction(c, all[2], "stop")
	c.Call(http.MethodPost, "/roles", map[string]any{"name": "Gardener", "policies": []string{"actions:execute"}}, nil)
	c.Call(http.MethodPost, "/teams", map[string]any{"name": "Weavers", "resources": []string{all[0].ID}}, nil)
	c.Call(http.MethodPost, "/resources/refresh", map[string]string{}, nil)
	e.WaitSettled()
}
