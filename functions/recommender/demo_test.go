package recommender

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// connectSimulated connects to a simulated cloud of volumes and addresses.
func (f *fixture) connectSimulated() cloud.Conn {
	f.Helper()
	return apitest.Value(simulated.New(f.Table, f.Clock).Connect(f.In(org), cloud.Account{
		Org: org, ID: inventorytest.Account, Provider: simulated.Name, NativeID: "100000000001",
		AuthMethod: simulated.AuthMethod, Regions: []string{"eu-west-1"},
		Credentials: map[string]string{"size": "600", "kinds": "aws-ebs,aws-eip", "regions": "eu-west-1"},
	}))(f)
}

// listSimulated lists the volumes and addresses of a simulated cloud.
func (f *fixture) listSimulated() []cloud.Resource {
	f.Helper()
	conn := f.connectSimulated()
	var out []cloud.Resource
	for page := ""; ; {
		got := apitest.Value(conn.List(f.In(org), cloud.CollectiveOf(simulated.Name).Type, "eu-west-1", page))(f)
		out = append(out, got.Resources...)
		if page = got.Next; page == "" {
			return out
		}
	}
}

// isWaste reports whether a volume or an address serves nothing: the oracle.
func isWaste(r cloud.Resource) bool {
	return r.Facts["attachment_count"] == 0.0 || r.Facts["association_id"] == ""
}

// scan stores resources of several types, as the collective kind of AWS finds them.
func (f *fixture) scan(found []cloud.Resource) {
	f.Helper()
	for chunk := range slices.Chunk(found, inventory.MaxBatch) {
		inventorytest.DiscoverIn(f.Fixture, inventory.Partition{
			AccountID: inventorytest.Account, Region: "eu-west-1", Kind: cloud.CollectiveOf("aws").Type,
		}, org, chunk...)
	}
}

// evaluateSimulated discovers and bills resources, and evaluates them a day and nine days later.
func (f *fixture) evaluateSimulated(found []cloud.Resource) (rows map[string]string) {
	f.Helper()
	perDay := map[string]string{}
	for _, r := range found {
		perDay[r.UID] = "0.5"
	}
	f.scan(found)
	for range 2 {
		f.Clock.Advance(9 * 24 * time.Hour)
		f.bill(perDay)
		f.lines = nil
		f.evaluate()
	}
	rows = map[string]string{}
	for _, r := range apitest.Rows[recommendation.Row](f.Fixture, recommendation.RowPKs(org)...) {
		if r.Status == recommendation.Open {
			rows[r.ResourceUID] += r.RuleID + " "
		}
	}
	return rows
}

func TestEvaluate_FindsThePlantedWasteOfASimulatedCloud(t *testing.T) {
	f := newFixture(t)
	all := f.listSimulated()
	rows, waste := f.evaluateSimulated(all), 0
	for _, r := range all {
		orphan := strings.Contains(rows[r.UID], "-unattached ") || strings.Contains(rows[r.UID], "-unassociated ")
		if orphan != isWaste(r) {
			t.Errorf("%s %s: waste is %v; rows: %q", r.Type, r.UID, isWaste(r), rows[r.UID])
		}
		if isWaste(r) {
			waste++
		}
	}
	if waste < 50 || waste > len(all)/2 {
		t.Errorf("%d of %d resources are waste", waste, len(all))
	}
	t.Logf("%d of %d resources are waste, %d resources have rows", waste, len(all), len(rows))
}

func TestEvaluate_FindsNothingInAHealthyAccount(t *testing.T) {
	f := newFixture(t)
	healthy := slices.DeleteFunc(f.listSimulated(), isWaste)
	if rows := f.evaluateSimulated(healthy); len(rows) > 0 || len(healthy) < 100 {
		t.Errorf("%d healthy resources have rows: %v", len(healthy), rows)
	}
}
