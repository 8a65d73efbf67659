package actions_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/grant"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/money"
)

// listedBulks lists the ids of bulk actions that callers with grants see.
func (f *bulkFixture) listedBulks(grants []grant.Grant, query string) string {
	f.Helper()
	w := f.callAs(bulkOrg, grants, http.MethodGet, "/actions/bulk"+query, "")
	var got struct {
		Data struct {
			Items []execution.Bulk
			Total int
		}
	}
	if w.code != http.StatusOK {
		f.Fatalf("%s: %d %s", query, w.code, w.body)
	}
	f.must(json.Unmarshal([]byte(w.body), &got))
	var ids []string
	for _, b := range got.Data.Items {
		ids = append(ids, b.ID)
	}
	return strings.Join(ids, " ")
}

func TestListBulks_ShowsTheNewestFirstAndOnlyThoseInReach(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0")
	stop := f.submitBulk(`{"type":"stop","groupID":%q}`, g).data(t).BulkActionID
	f.p.Clock.(*clock.Manual).Advance(time.Second)
	start := f.submitBulk(`{"type":"start","resourceIDs":%s}`, f.quoteNames("web-1", "web-3")).data(t).BulkActionID
	one := []grant.Grant{{Policies: []string{"*:*"}, Scope: "resource:" + f.ids["web-0"]}}
	for name, c := range map[string]struct {
		grants []grant.Grant
		query  string
		want   string
	}{
		"all":                        {everybody, "", start + " " + stop},
		"a page":                     {everybody, "?limit=1&page=2", stop},
		"a type":                     {everybody, "?type=stop", stop},
		"a group":                    {everybody, "?group_id=" + g, stop},
		"a status":                   {everybody, "?status=completed", ""},
		"two statuses":               {everybody, "?status=queued,running", start + " " + stop},
		"what a resource grant sees": {one, "", stop},
		"none of its type":           {one, "?type=start", ""},
	} {
		if got := f.listedBulks(c.grants, c.query); got != c.want {
			t.Errorf("%s: %q; want %q", name, got, c.want)
		}
	}
	f.callAs(bulkOrg, everybody, http.MethodGet, "/actions/bulk?status=lost", "").
		want(t, http.StatusBadRequest, "status")
}

func TestDryRun_ShowsWhatItSavesAnHour(t *testing.T) {
	f := newBulkFixture(t)
	rate := pricing.HourlyRate{Running: money.MustParse("0.1"), Off: money.MustParse("0.004")}
	f.must(pricing.WriteCosts(f.in(), f.p, bulkOrg, []pricing.KnownCost{
		{UID: "i-web-0", Rate: rate}, {UID: "i-web-1", Rate: pricing.HourlyRate{Reason: "unknown type"}},
	}))
	const dryRun = `{"type":"stop","groupID":%q,"dryRun":true}`
	plan := f.submitBulk(dryRun, f.newGroup("web-0", "web-1", "web-3")).data(t).Plan
	if plan.HourlyUSD == nil || *plan.HourlyUSD != "0.0960" || plan.WithoutRate != 2 {
		t.Errorf("hourly %v, %d without a price", plan.HourlyUSD, plan.WithoutRate)
	}
	none := f.submitBulk(dryRun, f.newGroup("web-3")).data(t).Plan
	if none.HourlyUSD != nil || none.WithoutRate != 1 {
		t.Errorf("without any price: %v, %d", none.HourlyUSD, none.WithoutRate)
	}
}

func TestActions_NameTheirResource(t *testing.T) {
	f := newBulkFixture(t)
	const stop = `{"type":"stop","resourceUID":"i-web-0","provider":"aws","resourceType":"aws-ec2",` +
		`"cloudAccountID":"ca_01k00000000000000000000000","region":"eu-west-1"}`
	f.callAs(bulkOrg, everybody, http.MethodPost, "/actions", stop).want(t, http.StatusOK)
	f.callAs(bulkOrg, everybody, http.MethodGet, "/actions", "").
		want(t, http.StatusOK, `"resourceName":"web-0"`, `"resourceID":"`+f.ids["web-0"]+`"`)
}
