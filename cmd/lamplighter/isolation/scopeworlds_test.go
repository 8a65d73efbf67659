package isolation

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/people/membership"
)

// scopeWorld is one of everything in an organization, whose names and tags hold its marker, and a user whose only
// grant is the role owner on a part of its cloud account.
type scopeWorld struct {
	marker  string // stands in the name, description, tag or address of everything of this world and of nothing else
	values  probe.Values
	narrow  *probe.Caller
	outside map[string]bool // ids, uids and names of the resources of the account outside the scope
}

// worldResource is a resource as the list of resources shows it.
type worldResource struct {
	ID, UID, Name, Region, Type, Status string
	GroupIDs                            []string
	Tags                                map[string]string
}

// scopeKinds select the resources of a narrow scope. A scope is a team that owns the resources, or one resource.
var scopeKinds = map[string]func(r, sample worldResource) bool{
	"zqaccount-1":  func(_, _ worldResource) bool { return true },
	"zqregion-3":   func(r, sample worldResource) bool { return r.Region == sample.Region },
	"zqgroup-5":    func(r, sample worldResource) bool { return slices.Contains(r.GroupIDs, sample.GroupIDs[0]) },
	"zqtag-7":      func(r, sample worldResource) bool { return r.Tags["env"] == sample.Tags["env"] },
	"zqresource-9": func(r, sample worldResource) bool { return r.ID == sample.ID },
}

// newScopeWorlds returns a world for each kind of scope, and makes the records that two worlds share.
func newScopeWorlds(t *testing.T, owner *probe.Caller) []*scopeWorld {
	t.Helper()
	var worlds []*scopeWorld
	for _, marker := range slices.Sorted(maps.Keys(scopeKinds)) {
		w := &scopeWorld{marker: marker, values: owner.Settle(t, marker)}
		worlds = append(worlds, w)
	}
	for _, w := range worlds {
		w.narrow = w.hireNarrowUser(t, owner)
	}
	if err := owner.Service.JudgeCosts(t.Context()); err != nil { // mails of all budgets, each to who may see it
		t.Fatal(err)
	}
	for i, w := range worlds {
		shareBetween(t, owner, w, worlds[(i+1)%len(worlds)])
	}
	return worlds
}

// hireNarrowUser makes the scope of the world and a user with it, and records which resources are outside.
func (w *scopeWorld) hireNarrowUser(t *testing.T, owner *probe.Caller) *probe.Caller {
	t.Helper()
	inside, scope := w.splitResources(t, owner), grant.ResourceScope+w.values["resourceID"]
	if w.marker != "zqresource-9" {
		var team struct{ ID string }
		owner.Call(http.MethodPost, "/teams", map[string]any{"name": "Scope of " + w.marker, "resources": inside},
			&team)
		scope = grant.TeamScope + team.ID
		w.values["teamID"], w.values["team_id"], w.values["scopeID"], w.values["scope_id"] = team.ID, team.ID, team.ID,
			team.ID
	}
	var budget struct{ ID string }
	owner.Call(http.MethodPost, "/budgets", map[string]any{
		"name": "Scope budget of " + w.marker, "scopeType": "resource", "scopeID": w.values["resourceUID"],
		"amountUSD": "1",
	}, &budget)
	w.values["budgetID"] = budget.ID
	email := "user-of-" + w.marker + "@example.com"
	u, err := auth.CreateVerifiedUser(t.Context(), owner.Service.Platform, email, testenv.Password, "User of "+w.marker)
	if err != nil {
		t.Fatal(err)
	}
	grants := []grant.Grant{{Role: grant.Owner, Scope: scope}}
	if err = membership.New(owner.Service.Platform).JoinOrganisation(t.Context(), owner.Org, u, grants); err != nil {
		t.Fatal(err)
	}
	c := owner.Service.NewClient()
	c.LogIn(email, owner.Org)
	c.Call(http.MethodPut, "/notifications/email-preferences/budget.exceeded", map[string]bool{"enabled": true}, nil)
	w.values["ownEmail"], w.values["password"] = email, testenv.Password
	return owner.Service.NewCaller(t, c)
}

// splitResources returns the ids of the world's resources inside its scope.
func (w *scopeWorld) splitResources(t *testing.T, owner *probe.Caller) (inside []string) {
	t.Helper()
	var all []worldResource
	owner.Call(http.MethodGet, "/resources?limit=100&cloud_account_id="+w.values["accountID"], nil, &all)
	sample := all[slices.IndexFunc(all, func(r worldResource) bool { return r.ID == w.values["resourceID"] })]
	w.outside = map[string]bool{}
	names := map[string]bool{}
	for _, r := range all {
		if scopeKinds[w.marker](r, sample) {
			inside, names[r.Name] = append(inside, r.ID), true
			continue
		}
		w.outside[r.ID], w.outside[r.UID], w.outside[r.Name] = true, true, true
	}
	maps.DeleteFunc(w.outside, func(name string, _ bool) bool { return names[name] })
	w.addSampleTargets(all, inside)
	if w.marker != "zqaccount-1" && len(w.outside) < 50 {
		t.Fatalf("%s: only %d names are outside the scope", w.marker, len(w.outside))
	}
	return inside
}

// addSampleTargets adds the values that sample bodies need.
func (w *scopeWorld) addSampleTargets(all []worldResource, inside []string) {
	w.values["resourceType"], w.values["freeResourceUID"] = "aws-ec2", w.values["resourceUID"]
	for _, r := range all {
		if r.Type == "aws-rds" && slices.Contains(inside, r.ID) {
			w.values["databaseID"] = r.ID
		}
		if r.Type == "aws-asg" && r.Status == "running" &&
			(slices.Contains(inside, r.ID) || w.values["freeTarget"] == "") {
			w.values["freeTarget"] = r.UID
		}
	}
	w.values["organisationName"], w.values["clusterName"] = "Org of head@example.com", "main"
	w.values["refreshToken"] = "none"
}

// shareBetween makes a group, a schedule, an override, a wake link, a bulk action and an event plan of two worlds,
// whose own names hold no marker.
func shareBetween(t *testing.T, c *probe.Caller, a, b *scopeWorld) {
	t.Helper()
	name := fmt.Sprintf("Shared %d", len(a.marker)*1000+int(a.marker[len(a.marker)-1]))
	var group, calendar, schedule, plan struct{ ID string }
	c.Call(http.MethodPost, "/calendars", map[string]any{
		"name": "Holidays of " + b.marker, "effect": "no_action",
		"entries": []any{map[string]any{
			"from": probe.Yesterday.AddDate(0, 2, 0).Format(time.DateOnly), "name": "Day of " + b.marker,
		}},
	}, &calendar)
	c.Call(http.MethodPost, "/resource-groups", map[string]any{"name": name, "members": []any{
		map[string]any{"resourceID": a.values["resourceID"]}, map[string]any{"resourceID": b.values["resourceID"]},
	}}, &group)
	c.Call(http.MethodPost, "/schedules", map[string]any{
		"name": name, "timezone": "UTC", "calendarIDs": []string{calendar.ID},
		"crons": []any{map[string]any{"cronExpression": "0 4 * * *", "action": "stop"}},
	}, &schedule)
	for _, target := range []any{
		map[string]string{"groupID": group.ID},
		map[string]string{"resourceID": a.values["resourceID"]},
		map[string]string{"groupID": b.values["groupID"]},
	} {
		c.Call(http.MethodPost, "/schedules/"+schedule.ID+"/attachments", target, nil)
	}
	until := c.Service.Clock.Now().Add(24 * time.Hour).UTC().Format(time.RFC3339)
	c.Call(http.MethodPost, "/resource-groups/"+group.ID+"/wake-links", map[string]any{}, nil)
	c.Call(http.MethodPost, "/actions/bulk", map[string]string{"type": "start", "groupID": group.ID}, nil)
	c.Service.WaitSettled()
	c.Call(http.MethodPost, "/resource-groups/"+group.ID+"/overrides",
		map[string]any{"action": "force_on", "expiresAt": until}, nil)
	c.Service.WaitSettled()
	days := len(a.marker) + int(a.marker[len(a.marker)-1])
	start := c.Service.Clock.Now().Add(time.Duration(days) * 24 * time.Hour).UTC()
	c.Call(http.MethodPost, "/event-readiness", map[string]any{
		"name": name, "eventStart": start.Format(time.RFC3339), "eventEnd": start.Add(time.Hour).Format(time.RFC3339),
		"expectedMultiplier": 2, "timezone": "UTC",
		"targets": []any{
			map[string]string{"policyId": a.values["policyId"]},
			map[string]string{"policyId": b.values["policyId"]},
		},
	}, &plan)
	c.Service.Clock.Advance(time.Minute)
	a.values["sharedGroupID"], a.values["sharedScheduleID"], a.values["sharedEventID"] = group.ID, schedule.ID, plan.ID
	a.values["sharedCalendarID"] = calendar.ID
}

// attributedIDs returns the ids that the owner's answers show within an object that holds the marker of exactly one
// world, by marker.
func attributedIDs(worlds []*scopeWorld, answers map[string]string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	for _, w := range worlds {
		out[w.marker] = map[string]bool{}
		for name, v := range w.values {
			if strings.HasPrefix(name, "shared") {
				continue
			}
			for _, id := range probe.IDPattern.FindAllString(v, -1) {
				out[w.marker][id] = true
			}
		}
	}
	for _, body := range answers {
		var v any
		if json.Unmarshal([]byte(body), &v) == nil {
			attribute(worlds, v, out)
		}
	}
	for _, w := range worlds {
		for _, ids := range out {
			delete(ids, w.values["sharedCalendarID"]) // a schedule that is shown names it
		}
	}
	return out
}

func attribute(worlds []*scopeWorld, v any, out map[string]map[string]bool) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			attribute(worlds, item, out)
		}
	case map[string]any:
		if id, ok := v["id"].(string); ok && probe.IDPattern.MatchString(id) {
			text, _ := json.Marshal(v) // decoded JSON can always be encoded
			if m := markersIn(worlds, string(text)); len(m) == 1 {
				out[m[0]][id] = true
			}
		}
		for _, item := range v {
			attribute(worlds, item, out)
		}
	}
}

// markersIn returns the markers that a text holds.
func markersIn(worlds []*scopeWorld, text string) []string {
	var out []string
	for _, w := range worlds {
		if strings.Contains(strings.ToLower(text), w.marker) {
			out = append(out, w.marker)
		}
	}
	return out
}
