package simulated

import (
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// Every machine with a price has limits, so that its size can be chosen.
func TestSizes_AreThoseOfTheMachinesWithAPrice(t *testing.T) {
	at := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	p := New(tabletest.New(t), clock.NewManual(at))
	c := apitest.Value(p.Connect(t.Context(), account(map[string]string{"size": "3", "regions": "eu-west-1"})))(t)
	byName := map[string]cloud.MachineSize{}
	for _, s := range apitest.Value(c.(cloud.Sizer).Sizes(t.Context(), "eu-west-1"))(t) {
		byName[s.Name] = s
	}
	priced := 0
	for line := range strings.Lines(prices) {
		f := strings.Split(line, "/")
		if f[0] != "ec2" && f[0] != "rds" {
			continue
		}
		priced++
		s := byName[strings.TrimPrefix(f[1], "db.")]
		if s.VCPU < 1 || s.GiB < 1 || s.IOPS < 100 || s.MiBps < 1 || s.Mbps < 10 {
			t.Errorf("%s: %+v", f[1], s)
		}
	}
	if priced < 10 || CallsByMethod(p, "ca_1")["Sizes"] > 1 {
		t.Errorf("%d machines have a price", priced)
	}
}
