package main

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
)

// estate is one of everything that an organization can have, by the names under which operations ask for it.
type estate map[string]string

// settle gives the caller an estate: a cloud of their own with a group, an action, a bulk action and a refresh.
func (c *caller) settle(t *testing.T, number string) estate {
	t.Helper()
	account := c.Connect(number, testenv.Fast(60))
	all := running(t, c.Client, 2)
	var job struct{ JobID string }
	c.Call(http.MethodPost, "/resources/refresh", map[string]string{}, &job)
	refresh := job.JobID
	c.s.Settled()
	c.Call(http.MethodPost, "/cloud-accounts/"+account+"/discover", map[string]string{}, &job)
	c.s.Settled()
	var group struct{ ID string }
	c.Call(http.MethodPost, "/resource-groups", map[string]any{
		"name": "Group of " + number, "members": []any{map[string]any{"resourceID": all[1].ID}},
	}, &group)
	action := act(c.Client, all[0], "stop")
	var bulk struct {
		ID string `json:"bulkActionID"`
	}
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": "stop", "groupID": group.ID}, &bulk)
	c.s.Settled()
	return estate{
		"accountID": account, "cloudAccountID": account, "cloud_account_id": account, "jobID": job.JobID, "refresh": refresh,
		"groupID": group.ID, "group_id": group.ID, "resourceID": all[1].ID, "resourceUID": all[1].UID, "resource_uid": all[1].UID,
		"uids": all[1].UID, "actionID": action, "bulkActionID": bulk.ID, "tenantID": c.Org, "region": all[1].Region,
		"clusterName": "none",
	}
}

// snapshot is what a caller can read of an estate: every GET, by its path.
func (w *sweep) snapshot(c *caller, e estate) map[string]string {
	w.t.Helper()
	out := map[string]string{}
	for _, op := range w.ops {
		if op.method != http.MethodGet || op.Security != nil && len(*op.Security) == 0 {
			continue
		}
		path := op.path
		for _, p := range op.Parameters {
			switch {
			case p.Value.In == "path":
				path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(w.value(e, op, p.Value.Name)))
			case p.Value.Name == "limit":
				path += "?limit=100"
			}
		}
		res := c.ask(w.t, http.MethodGet, path, "")
		if res.Code != http.StatusOK {
			w.t.Errorf("GET %s of one's own: %d %s", path, res.Code, res.Body)
		}
		out[path] = res.Body.String()
	}
	return out
}

// identifier is an id of ours.
var identifier = regexp.MustCompile(`\b(usr|org|ca|res|grp|act|bulk|job|aud)_[0-9a-z]{26}\b`)

// issued are the ids that texts hold.
func issued(texts map[string]string) map[string]bool {
	out := map[string]bool{}
	for _, text := range texts {
		for _, id := range identifier.FindAllString(text, -1) {
			out[id] = true
		}
	}
	return out
}
