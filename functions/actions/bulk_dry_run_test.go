package actions_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

func TestSubmitBulk_ADryRunTellsTheOrderAndStoresNothing(t *testing.T) {
	f := newBulkFixture(t)
	g := f.newGroup("web-0", "web-1", "ro-0", "web-6", "web-2", "web-7")
	stopped, err := table.Read[inventory.Resource](f.in(), f.p.Table, inventory.ResourceKey(bulkOrg, "i-web-2"))
	f.must(err)
	stopped.Status = cloud.Stopped
	f.put(inventory.ResourceKey(bulkOrg, "i-web-2"), stopped)
	busy, err := table.Read[inventory.Resource](f.in(), f.p.Table, inventory.ResourceKey(bulkOrg, "i-web-1"))
	f.must(err)
	busy.ActionID, busy.ActionType = "act_1", cloud.Start
	f.put(inventory.ResourceKey(bulkOrg, "i-web-1"), busy)

	ctx, meter := table.WithMeter(table.WithOrg(t.Context(), bulkOrg))
	ctx = identity.WithCaller(ctx,
		identity.Caller{Org: bulkOrg, User: "usr_1", Email: "ada@example.com", Grants: everybody})
	w := httptest.NewRecorder()
	body := strings.NewReader(fmt.Sprintf(`{"type":"stop","groupID":%q,"dryRun":true}`, g))
	f.h.ServeHTTP(w, httptest.NewRequestWithContext(ctx, "POST", "/actions/bulk", body))
	got := answer{w.Code, w.Body.String()}.data(t)
	if u := meter.Usage(); u.WriteUnits != 0 || u.RoundTrips > 8 { // one for the prices
		t.Errorf("the dry run cost %+v", u)
	}
	apitest.LinkAudit(t, f.p, audit.PlaceOf(bulkOrg))
	if len(f.engine.names) != 0 || len(f.rows(audit.PlaceOf(bulkOrg).PK)) != 0 {
		t.Errorf("it started %v, and is on record", f.engine.names)
	}
	if got.BulkActionID != "" || got.Status != execution.BulkPlanned || got.Total != 5 {
		t.Errorf("%+v", got)
	}
	if len(got.Plan.Steps) != 1 || got.Plan.Steps[0].Tier != 1 || got.Plan.Steps[0].Resources[0].Name != "web-0" {
		t.Errorf("steps: %+v", got.Plan.Steps)
	}
	left := map[string]string{}
	for _, l := range got.Plan.LeftOut {
		as := "-"
		if l.CountsAs != nil {
			as = *l.CountsAs
		}
		left[l.ResourceID] = as + " " + l.Reason
	}
	for name, want := range map[string]string{
		"web-1": "failed a start of the resource is in flight (act_1)",
		"ro-0":  "failed cloud account ca_01k00000000000000000000001 is read_only",
		"web-6": "failed it belongs to the Auto Scaling group", "web-2": "completed the resource is stopped already",
		"web-7": "- the resource is terminated",
	} {
		if !strings.HasPrefix(left[f.ids[name]], want) {
			t.Errorf("%s: %q, want %q", name, left[f.ids[name]], want)
		}
	}
	start := f.submitBulk(`{"type":"start","groupID":%q,"dryRun":true}`, f.newGroup("web-3", "web-4")).data(t)
	stop := f.submitBulk(`{"type":"stop","groupID":%q,"dryRun":true}`, f.newGroup("web-3", "web-4")).data(t)
	if len(start.Plan.Steps) != 0 || len(start.Plan.LeftOut) != 2 {
		t.Errorf("what runs would be started: %+v", start.Plan)
	}
	if len(stop.Plan.Steps) != 2 || stop.Plan.Steps[0].Tier != 2 || stop.Plan.Steps[1].Tier != 1 {
		t.Errorf("a stop goes %+v", stop.Plan.Steps)
	}
}

func TestSubmitBulk_ItsAuditRowSaysWhatItDoes(t *testing.T) {
	f := newBulkFixture(t)
	f.submitBulk(`{"type":"stop","groupID":%q}`, f.newGroup("web-0"))
	f.submitBulk(`{"type":"start","resourceIDs":%s}`, f.quoteNames("web-1"))
	b := f.submitBulk(`{"type":"start","filter":{"search":"web-3"}}`).data(t)
	f.callAs(bulkOrg, everybody, "POST", "/actions/bulk/"+b.BulkActionID+"/cancel", "")
	apitest.LinkAudit(t, f.p, audit.PlaceOf(bulkOrg))
	rows := f.rows(audit.PlaceOf(bulkOrg).PK)
	if len(rows) != 4 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, words := range [][]string{
		{`\"type\":\"stop\"`, `\"groupID\":\"grp_`, `\"total\":1`},
		{`\"type\":\"start\"`, f.ids["web-1"]},
		{`\"type\":\"start\"`, `\"search\":\"web-3\"`, b.BulkActionID},
		{`\"status\":\"cancelled\"`, `\"status\":\"queued\"`, b.BulkActionID},
	} {
		for _, w := range words {
			if !strings.Contains(string(rows[i].Data), w) {
				t.Errorf("row %d does not say %s: %s", i, w, rows[i].Data)
			}
		}
	}
}
