package references

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/rest"
	domain "lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
)

// sortedBy maps a value of sort_by to the field of items that it sorts by, if the field has another name.
var sortedBy = map[string]func(item map[string]any) any{
	"listResourceCosts cost":     func(item map[string]any) any { return item["costUSD"] },
	"listTagResourceCosts cost":  func(item map[string]any) any { return item["costUSD"] },
	"listTeamResourceCosts cost": func(item map[string]any) any { return item["costUSD"] },
	"listResources cost":         shownCost,

	"listRecommendations savings_usd": func(item map[string]any) any { return item["savingsUSD"] },
	"listRecommendations updated_at":  func(item map[string]any) any { return item["updatedAt"] },
	"listRecommendations severity":    severityRank,

	"listRemediationWorkflows created_at": func(item map[string]any) any { return item["createdAt"] },
	"listRemediationWorkflows updated_at": func(item map[string]any) any { return item["updatedAt"] },
}

// shownCost returns the cost of a resource in the field that its costSource names.
func shownCost(item map[string]any) any {
	rack, _ := item["rackRateUSD"].(map[string]any)
	actual, _ := item["actualUSD"].(map[string]any)
	switch {
	case item["costSource"] == "actual" && actual["lastMonth"] != "0.00":
		return actual["lastMonth"]
	case item["costSource"] == "actual":
		return actual["monthToDate"]
	case item["costSource"] == "estimated":
		return rack["monthly"]
	}
	return "-1000000000"
}

// alike lists the orders without effect in this test, because all items have the same value, with the reason.
var alike = map[string]string{
	"listCloudAccounts provider":     "all accounts are simulated",
	"listCloudAccounts status":       "all accounts are connected",
	"listClusters name":              "the simulated cloud calls each cluster main",
	"listResources provider":         "all accounts are simulated",
	"listResourceCosts provider":     "all accounts are simulated",
	"listTagResourceCosts provider":  "all accounts are simulated",
	"listTeamResourceCosts provider": "all accounts are simulated",
}

// TestSorting_EachSortByComparesTheFieldThatItNames asks every operation that takes sort_by, for each of its fields
// and both directions, and compares the order of the items with the field that the items show.
func TestSorting_EachSortByComparesTheFieldThatItNames(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	w := &references{Caller: s.NewCaller(t, s.NewOwner("owner@example.com")), t: t}
	values := w.fillLists()
	tried := 0
	for _, f := range functions.All() {
		for _, g := range f.Operations(s.Platform) {
			for _, op := range g.Ops() {
				path := fillPath(op, values)
				fields := w.sortFields(op, path)
				for _, field := range fields {
					tried++
					t.Run(op.ID+"_by_"+field, func(t *testing.T) {
						w.t = t
						w.compareOrders(op, path, field)
					})
				}
			}
		}
	}
	if tried < 40 {
		t.Errorf("%d orders were tried, fewer than the operations have", tried)
	}
}

// fillPath returns the path of an operation with the values of its parameters.
func fillPath(op rest.Op, values map[string]string) string {
	path := op.Path
	for name, v := range values {
		path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(v))
	}
	return path
}

var sortWord = regexp.MustCompile(`[A-Za-z_]+`)

// sortFields returns the operation's values of sort_by, as the error for an unknown value lists them. It returns none
// for an operation without sort_by.
func (w *references) sortFields(op rest.Op, path string) []string {
	w.t.Helper()
	if op.Method != http.MethodGet || op.Public || strings.Contains(path, "{") {
		return nil
	}
	res := w.Ask(w.t, http.MethodGet, path+"?sort_by=nothing", "")
	if res.Code != http.StatusBadRequest || !strings.Contains(res.Body.String(), "sort_by") {
		return nil
	}
	_, list, found := strings.Cut(res.Body.String(), " one of ")
	if !found {
		w.t.Fatalf("GET %s?sort_by=nothing lists no fields: %s", path, res.Body)
	}
	list, _, _ = strings.Cut(list, ", got")
	return sortWord.FindAllString(list, -1)
}

// compareOrders requests both directions of a field and compares them.
func (w *references) compareOrders(op rest.Op, path, field string) {
	w.t.Helper()
	key := func(item map[string]any) any { return item[field] }
	if other := sortedBy[op.ID+" "+field]; other != nil {
		key = other
	}
	up, down := w.sorted(path, field, "asc"), w.sorted(path, field, "desc")
	different := 0
	for i := 1; i < len(up); i++ {
		c := compareShown(key(up[i-1]), key(up[i]))
		if c != 0 {
			different++
		}
		if c > 0 {
			w.t.Errorf("asc: item %d has %v, and item %d has %v", i-1, key(up[i-1]), i, key(up[i]))
		}
		if c = compareShown(key(down[i-1]), key(down[i])); c < 0 {
			w.t.Errorf("desc: item %d has %v, and item %d has %v", i-1, key(down[i-1]), i, key(down[i]))
		}
	}
	if why := alike[op.ID+" "+field]; (different == 0) != (why != "") {
		w.t.Errorf("%d items have %d different values: give fillLists others, or alike the reason", len(up),
			different+1)
	}
}

// sorted returns the first 100 items of a list in an order. Each must be an object that has the field.
func (w *references) sorted(path, field, direction string) []map[string]any {
	w.t.Helper()
	res := w.Ask(w.t, http.MethodGet, path+"?limit=100&sort_by="+field+"&sort_order="+direction, "")
	var page struct {
		Data json.RawMessage `json:"data"`
	}
	var items []map[string]any
	if err := json.Unmarshal(res.Body.Bytes(), &page); err != nil || res.Code != http.StatusOK {
		w.t.Fatalf("GET %s: %d %s", path, res.Code, res.Body)
	}
	if json.Unmarshal(page.Data, &items) != nil {
		var list struct{ Items []map[string]any }
		if err := json.Unmarshal(page.Data, &list); err != nil {
			w.t.Fatal(err)
		}
		items = list.Items
	}
	if len(items) < 2 {
		w.t.Fatalf("GET %s has %d items; two are needed", path, len(items))
	}
	return items
}

// compareShown compares two values as a reader does: amounts and numbers by size, times by time, texts
// case-insensitively.
func compareShown(a, b any) int {
	x, y := fmt.Sprint(a), fmt.Sprint(b)
	if a == nil {
		x = ""
	}
	if b == nil {
		y = ""
	}
	if m, err := money.Parse(x); err == nil {
		if n, err := money.Parse(y); err == nil {
			return m.Cmp(n)
		}
	}
	if p, err := time.Parse(time.RFC3339, x); err == nil {
		if q, err := time.Parse(time.RFC3339, y); err == nil {
			return p.Compare(q)
		}
	}
	return strings.Compare(strings.ToLower(x), strings.ToLower(y))
}

// fillLists makes three of each record that a list can be sorted by, whose names are in another order than their
// times, and returns values for the parameters of paths.
func (w *references) fillLists() map[string]string {
	w.t.Helper()
	var accounts []string
	for i, size := range []int{60, 5, 12} {
		accounts = append(accounts, w.ConnectAccount([]string{"mid", "Zeta", "alpha"}[i], testenv.FastCloud(size)))
	}
	w.account = accounts[0]
	team := targets["team"](w)
	var all []testenv.Resource
	w.Call(http.MethodGet, "/resources?limit=60&cloud_account_id="+w.account, nil, &all)
	var ids []string
	for _, r := range all {
		ids = append(ids, r.ID)
	}
	w.Call(http.MethodPost, team.read+"/resources", map[string]any{"resourceIDs": ids}, nil)
	w.recommend(all[:3])
	w.propose(all[:3])
	w.rebuildCosts()
	for i, name := range []string{"mid", "Zeta", "alpha"} {
		w.fillList(i, name)
	}
	w.Service.WaitSettled()
	if err := w.Service.JudgeCosts(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
	return map[string]string{"accountID": w.account, "teamID": team.id, "tagKey": "env", "tagValue": "prod"}
}

// rebuildCosts rebuilds the costs with the teams that own the resources now, as the service does some minutes after a
// change.
func (w *references) rebuildCosts() {
	w.t.Helper()
	ctx := table.Within(w.t.Context(), "")
	all, err := domain.ListAccounts(ctx, w.Service.Platform.Table, w.Org)
	if err != nil {
		w.t.Fatal(err)
	}
	accounts := make([]cost.Account, len(all))
	for i := range all {
		accounts[i] = cost.Account{ID: all[i].ID, Provider: all[i].Provider, Native: all[i].CloudAccountID}
	}
	if err = cost.New(w.Service.Platform).Rebuild(ctx, w.Org, accounts); err != nil {
		w.t.Fatal(err)
	}
}

// fillList makes the nth of each record.
func (w *references) fillList(n int, name string) {
	w.t.Helper()
	amount, kind := []string{"100", "9", "25.50"}[n], []string{"gitlab", "github", "dockerhub"}[n]
	config := map[string]map[string]string{
		"gitlab": {"token": "swept"}, "github": {"token": "swept"}, "dockerhub": {"username": "octo", "token": "swept"},
	}[kind]
	w.make("/budgets", map[string]any{"name": name, "scopeType": "org", "amountUSD": amount})
	w.make("/teams", map[string]string{"name": name})
	w.make("/roles", map[string]any{"name": name, "policies": []string{"resources:read"}})
	w.AddColleague(w.t, name+"@colleagues.example.com")
	w.Call(http.MethodPost, "/users", map[string]string{"email": name + "@guests.example.com", "name": name}, nil)
	w.make("/integrations", map[string]any{"name": name, "kind": kind, "config": config})
	w.make("/webhooks", map[string]any{"name": name, "url": "http://127.0.0.1:1/"})
	w.make("/resource-groups", map[string]any{"name": name})
	w.make("/calendars",
		map[string]any{"name": name, "effect": "no_action", "entries": []any{map[string]any{"from": "2099-12-24"}}})
	w.make("/schedules", map[string]any{
		"name": name, "timezone": "UTC",
		"crons": []any{map[string]any{"cronExpression": "0 3 29 2 *", "action": "stop"}},
	})
	w.Credential(w.t)
	var groups []struct{ UID string }
	w.Call(http.MethodGet, "/resources?type=aws-asg&status=running&limit=100&cloud_account_id="+w.account, nil, &groups)
	if n < len(groups) {
		w.make("/autoscaler-policies", map[string]any{
			"name": name, "cloudAccountID": w.account,
			"target": map[string]string{"type": "aws-asg", "uid": groups[n].UID},
		})
	}
	w.Service.Clock.Advance(time.Minute)
}
