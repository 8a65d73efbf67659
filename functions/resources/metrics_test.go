package resources

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// simulate replaces the fixture's account by a simulated one, and stores one of its instances and a group of its
// volumes in the inventory. It returns our IDs of both.
func (a *fixture) simulate(settings map[string]string) (instance, volume string) {
	a.Helper()
	ctx := table.WithOrg(context.Background(), ours)
	p := simulated.New(a.Table, a.Platform.Clock)
	conn := apitest.Value(p.Connect(ctx,
		cloud.Account{
			ID: inventorytest.Account, Provider: simulated.Name, NativeID: "100000000001",
			Credentials: settings,
		}))(a)
	a.Workers = lambdacall.Local{inventory.Connector: connector.Handler(a.Platform, cloud.Providers{simulated.Name: p})}
	for _, kind := range []string{"aws-ec2", "aws-ebs-snapshot"} {
		list := apitest.Value(conn.List(ctx, kind, "eu-west-1", ""))(a)
		inventorytest.Discover(a.Fixture, ours, kind, list.Resources[0])
		id := apitest.Data[[]Record](a.call(ours, http.MethodPost, "/resources/by-uids",
			`{"uids":["`+list.Resources[0].UID+`"]}`))[0].ID
		if kind == "aws-ec2" {
			instance = id
		} else {
			volume = id
		}
	}
	a.simulateAgain(settings)
	return instance, volume
}

var some = map[string]string{"size": "40", "kinds": "aws-ec2,aws-ebs-snapshot", "regions": "eu-west-1", "stopped": "0"}

func TestMetrics_AreReadFromTheCloudByTheirNames(t *testing.T) {
	a := newFixture(t)
	id, _ := a.simulate(some)
	got := apitest.Data[Usage](a.getPath("/resources/" + id + "/metrics"))
	if got.ResourceID != id || got.Period != 3600 || got.To.Sub(got.From) != 24*time.Hour ||
		len(got.Metrics) != len(cloud.MetricsOf("aws-ec2")) {
		t.Fatalf("%+v; want a day of all metrics of instances", got)
	}
	for _, m := range got.Metrics {
		if m.Name == "cpu_max_14d" &&
			(len(m.Points) != 24 || m.Unit != "%" || m.Statistic != "Maximum" || !m.Points[0].At.Equal(got.From) ||
				m.Points[0].Value <= 0) {
			t.Errorf("%+v", m)
		}
	}
	day := got.From.Truncate(24 * time.Hour)
	got = apitest.Data[Usage](a.getPath("/resources/" + id +
		"/metrics?name=cpu_avg_14d,net_bytes_day_max_14d&period=900&from=" +
		day.Add(-time.Hour).Format(time.RFC3339) + "&to=" + day.Format(time.RFC3339)))
	if len(got.Metrics) != 2 || len(got.Metrics[0].Points) != 4 || got.Metrics[1].Unit != "bytes/day" {
		t.Errorf("%+v; want four quarters of an hour of two metrics", got)
	}
}

func TestMetrics_TakePlainDates(t *testing.T) {
	a := newFixture(t)
	id, _ := a.simulate(some)
	got := apitest.Data[Usage](a.getPath("/resources/" + id + "/metrics?period=86400&from=2026-03-01&to=2026-03-04"))
	a.Equal("from", got.From.Format(time.RFC3339), "2026-03-01T00:00:00Z")
	a.Equal("to", got.To.Format(time.RFC3339), "2026-03-04T00:00:00Z")
}

func TestMetrics_WhatCannotBeAnsweredIsRefused(t *testing.T) {
	a := newFixture(t)
	id, volume := a.simulate(some)
	for path, want := range map[string]string{
		volume + "/metrics":                       "aws-ebs-snapshot are not measured",
		id + "/metrics?name=nonsense":             "it has cpu_avg_14d",
		id + "/metrics?from=yesterday":            "expected a time as RFC 3339",
		id + "/metrics?to=2199-01-01T00:00:00Z":   "to: 2199-01-01T00:00:00Z has not come yet",
		id + "/metrics?from=2020-01-01T00:00:00Z": "ask for a longer period or a shorter time",
		id + "/metrics?period=86400&from=2022-11-01T00:00:00Z&to=2023-01-01T00:00:00Z": "no provider keeps",
		id + "/metrics?period=7": "period",
		id + "/metrics?from=2026-03-01T00:00:00Z&to=2026-03-01T00:10:00Z": "less than a period",
	} {
		if w := a.getPath("/resources/" + path); w.Status != http.StatusBadRequest || !strings.Contains(w.Body, want) {
			t.Errorf("%s: %d %s; want 400 and %q", path, w.Status, w.Body, want)
		}
	}
	if w := a.getPath("/resources/res_01kkbhasqg1n7ds5th2w6s4wa4/metrics"); w.Status != http.StatusNotFound {
		t.Errorf("of what does not exist: %d %s", w.Status, w.Body)
	}
	a.grants = []string{"viewer team:team_none"}
	if w := a.getPath("/resources/" + id + "/metrics"); w.Status == http.StatusOK {
		t.Errorf("of what the caller may not see: %d", w.Status)
	}
}

func TestMetrics_TellWhatTheCloudSays(t *testing.T) {
	a := newFixture(t)
	id, _ := a.simulate(map[string]string{"size": "40", "kinds": "aws-ec2,aws-ebs-snapshot", "regions": "eu-west-1"})
	a.simulateAgain(map[string]string{
		"size": "40", "kinds": "aws-ec2,aws-ebs-snapshot", "regions": "eu-west-1",
		"denied": "cloudwatch:GetMetricData",
	})
	if w := a.getPath("/resources/" + id + "/metrics"); w.Status != http.StatusBadRequest ||
		!strings.Contains(w.Body, "cloudwatch:GetMetricData") {
		t.Errorf("denied: %d %s", w.Status, w.Body)
	}
	a.simulateAgain(map[string]string{
		"size": "40", "kinds": "aws-ec2,aws-ebs-snapshot", "regions": "eu-west-1",
		"refuse": "true",
	})
	if w := a.getPath("/resources/" + id + "/metrics"); w.Status != http.StatusBadRequest ||
		!strings.Contains(w.Body, "refused the credentials") {
		t.Errorf("refused: %d %s", w.Status, w.Body)
	}
}

// simulateAgain changes the settings of the simulated account.
func (a *fixture) simulateAgain(settings map[string]string) {
	a.Helper()
	account := inventory.Account{
		ID: inventorytest.Account, Name: "sim", Provider: simulated.Name, CloudAccountID: "100000000001",
		AuthMethod:      simulated.AuthMethod,
		PermissionLevel: "read_write",
	}
	ctx := table.WithOrg(context.Background(), ours)
	account.Sealed = apitest.Value(inventory.SealCredentials(ctx, a.Sealer, inventory.SecretPlace(ours, account.ID),
		settings))(a)
	a.Put(inventory.AccountKey(ours, account.ID), account)
}

func TestTypes_TellWhatCanBeDone(t *testing.T) {
	a := newFixture(t)
	types := map[string]Type{}
	for _, k := range apitest.Data[[]Type](a.getPath("/resources/types")) {
		types[k.Type] = k
	}
	if len(types) < 380 || len(types) > 1000 {
		t.Errorf("%d types; want 380 at least, and 1,000 at most in one answer", len(types))
	}
	for _, want := range []Type{
		{"aws-ec2", "aws", "EC2 instance", "ec2:instance", true, true, false, true, true},
		{"aws-ebs", "aws", "EBS volume", "ec2:volume", true, false, false, true, true},
		{"aws-vpc", "aws", "VPC", "ec2:vpc", true, false, false, false, false},
		{"aws-other", "aws", "Other AWS resource", "", true, false, false, false, false},
		{"aws-account", "aws", "Account", "organizations:account", false, false, false, false, false},
	} {
		if types[want.Type] != want {
			t.Errorf("%+v; want %+v", types[want.Type], want)
		}
	}
}

func TestFacts_AreShownWithTheResource(t *testing.T) {
	a := newFixture(t)
	_, id := a.simulate(some)
	got := apitest.Data[map[string]any](a.getPath("/resources/" + id))
	facts, _ := got["facts"].(map[string]any)
	if facts["storage_tier"] != "standard" || facts["started_at"] == nil {
		t.Errorf("%v", got)
	}
	if w := a.getPath("/resources/" + id); w.Usage.RoundTrips > 2 {
		t.Errorf("%d round trips; want two at most", w.Usage.RoundTrips)
	}
}
