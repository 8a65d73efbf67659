package reports

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/inventorytest"
)

// TestResourceCosts_TellCarbonWhereItIsKnown: an m5.large in Ireland emits 0.00155259601 kg an hour
// (functions/reports/carbon computes it by hand).
func TestResourceCosts_TellCarbonWhereItIsKnown(t *testing.T) {
	a := &fixture{Fixture: apitest.New(t, Operations)}
	machine := func(uid string, status cloud.Status, class string) cloud.Resource {
		return cloud.Resource{UID: uid, Name: uid, Status: status, InstanceType: class}
	}
	inventorytest.Discover(a.Fixture, ours, "aws-ec2",
		machine("i-on", cloud.Running, "m5.large"), machine("i-off", cloud.Stopped, "m5.large"),
		machine("i-other", cloud.Running, "m99.large"),
		machine("i-nights", cloud.Running, "m5.large"), machine("i-moving", cloud.Pending, "m5.large"),
		machine("i-halted", cloud.Stopped, "m5.large"))
	start := a.Clock.Now()
	change := func(uid, state string, at time.Time) {
		c := execution.StateChange{ID: id.New("sh", at), ResourceUID: uid, State: state, ChangedAt: at}
		a.Put(table.Key{PK: execution.HistoryResourcePK(ours, uid), SK: c.ID}, c)
	}
	change("i-nights", "stopped", start.Add(2*time.Hour))
	change("i-nights", "failed", start.Add(3*time.Hour))
	change("i-nights", "running", start.Add(9*time.Hour))
	change("i-halted", "stopped", start.Add(90*time.Minute))
	a.Clock.Advance(10 * time.Hour)
	var charges []bill.Charge
	for _, uid := range []string{"i-on", "i-off", "i-other", "i-nights", "i-moving", "i-halted", "i-unknown", ""} {
		charges = append(charges, charge("2026-03-01", uid, "Amazon EC2", "1"))
	}
	a.bring(ours, "ca_1", "2026-03", false, charges...)
	a.bring(ours, "ca_2", "2026-03", false, charge("2026-03-01", "i-on", "Amazon EC2", "1"))

	got := apitest.Data[ResourceCosts](a.get("/reports/costs/resources"))
	told := map[string]string{}
	for _, r := range got.Items {
		if r.CarbonKgCO2e != nil {
			told[r.Name+" of "+r.CloudAccountID] = *r.CarbonKgCO2e + " in " + *r.CarbonHours
		}
	}
	want := map[string]string{
		"i-on of ca_1": "0.015526 in 10.00", "i-off of ca_1": "0.000000 in 0.00", // of ten hours; of none
		"i-nights of ca_1": "0.004658 in 3.00", "i-halted of ca_1": "0.002329 in 1.50", // of three; of one and a half
	}
	if fmt.Sprint(told) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", told, want)
	}
	a.Equal("source", got.CarbonSource.Name, "Cloud Carbon Footprint")
	a.Equal("utilization", strconv.Itoa(got.CarbonSource.UtilizationPercent), "50")
	a.get("/reports/costs/resources?period=2026-02").Want(200, `"carbonSource"`)
	before := a.get("/reports/costs/resources?from=2026-03-01&to=2026-03-05")
	before.Want(200, `"carbonKgCO2e":null`)
	for _, r := range apitest.Data[ResourceCosts](before).Items {
		if r.CarbonKgCO2e != nil {
			t.Errorf("%s has %s in days before it was known", r.Name, *r.CarbonKgCO2e)
		}
	}
}

// TestRunningTime_IsOfWhatWasSeen checks that a terminated machine counts as running until it was last seen.
func TestRunningTime_IsOfWhatWasSeen(t *testing.T) {
	at := func(h int) time.Time { return time.Date(2026, 3, 1, h, 0, 0, 0, time.UTC) }
	r := &inventory.Listed{Resource: inventory.Resource{
		Status: cloud.Terminated, DiscoveredAt: at(1),
		LastSeenAt: at(5),
	}}
	if _, known := runningTime(r, nil, at(0), at(10)); known {
		t.Error("what is gone, and was never started or stopped here, is said to have run or not")
	}
	earlier := []execution.StateChange{
		{State: "stopped", ChangedAt: at(0).Add(30 * time.Minute)},
		{State: "running", ChangedAt: at(3)},
	}
	if ran, known := runningTime(r, earlier, at(0), at(10)); !known || ran != 2*time.Hour {
		t.Errorf("ran for %s, %v, by what is known from before it was discovered", ran, known)
	}
	started := []execution.StateChange{{State: "running", ChangedAt: at(2)}}
	if ran, known := runningTime(r, started, at(0), at(10)); !known || ran != 3*time.Hour {
		t.Errorf("ran for %s, %v", ran, known)
	}
	if ran, known := runningTime(r, started, at(4), at(10)); !known || ran != time.Hour {
		t.Errorf("ran for %s of the last six hours, %v", ran, known)
	}
}
