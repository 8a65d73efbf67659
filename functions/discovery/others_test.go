package discovery

import (
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
)

func TestEverythingElse_IsDiscoveredInOneScanARegion(t *testing.T) {
	s := newFixture(t, settings{"size": "3000", "regions": "2", "kinds": "*", "stopped": "0"})
	j, sum := s.runPass(discovery.Succeeded)
	all := 3000 + s.countKinds()["kubernetes-node"] // clusters have nodes besides
	if sum.Created != all || all == 3000 || j.Partitions != 14 {
		t.Errorf("%+v: %+v; want all 3,000 in 14 partitions", j, sum)
	}
	volume := false
	for _, r := range s.readRecords() {
		volume = volume || r.Type == "aws-ebs" && r.Facts["size_gb"] != nil
	}
	if kinds := s.countKinds(); len(kinds) < 40 || !volume {
		t.Errorf("%d types, a volume with facts %v; want those of every provider", len(kinds), volume)
	}
	s.clk.Advance(6 * time.Hour)
	s.noteCollection()
	if _, sum = s.runPass(discovery.Succeeded); sum.Unchanged != all {
		t.Errorf("again: %+v; want nothing changed", sum)
	}
}

func TestEverythingElse_WhatIsGoneIsTerminatedAndWhatWasNotReadStays(t *testing.T) {
	s := newFixture(t, settings{"size": "1000", "regions": "2", "kinds": "*", "stopped": "0"})
	s.runPass(discovery.Succeeded)
	before := s.countKinds()
	s.account = s.storedAccount()
	s.setSettings(settings{
		"size": "1000", "regions": "2", "kinds": "*", "stopped": "0", "vanish": "1",
		"denied": "simulated:ListOthers",
	})
	s.clk.Advance(6 * time.Hour)
	s.noteCollection()
	s.runPass(discovery.Partial)
	if got := s.countKinds(); got["aws-ebs"] != before["aws-ebs"] || got["azure-vm"] != before["azure-vm"] ||
		got["aws-ec2"] != 0 {
		t.Errorf("after a pass that was denied: %v of %v", got, before)
	}
	s.setSettings(settings{"size": "1000", "regions": "2", "kinds": "*", "stopped": "0", "vanish": "1"})
	s.clk.Advance(6 * time.Hour)
	s.runPass(discovery.Succeeded)
	first := s.countKinds()
	if first["aws-ebs"] != before["aws-ebs"] || first["aws-ec2"] != 0 {
		t.Errorf("after the first listing without them: %v of %v", first, before)
	}
	s.account = s.storedAccount()
	s.clk.Advance(6 * time.Hour)
	if s.runPass(discovery.Succeeded); s.countKinds()["aws-ebs"] != before["aws-ebs"] {
		t.Errorf("more than a tenth of the account is gone within six hours: %v of %v", s.countKinds(), before)
	}
	s.account = s.storedAccount()
	s.clk.Advance(18 * time.Hour)
	s.runPass(discovery.Succeeded)
	if got := s.countKinds(); len(got) != 0 {
		t.Errorf("left when all is gone: %v", got)
	}
}

func TestPlaces_WhatBelongsToNoRegionIsScannedOnceUnlessTheAccountIsConfined(t *testing.T) {
	kinds := []cloud.Kind{{Type: "aws-ec2"}, {Type: "aws-*", Global: true}, {Type: "aws-ebs", Collected: true}}
	in := map[string][]cloud.Kind{"a": kinds, "b": kinds}
	if got := placesOf(in, []string{"a", "b"}, true); countPlaces(got) != 5 || len(got) != 3 ||
		got[2][0] != (scanPlace{cloud.Global, "aws-*"}) {
		t.Errorf("%v", got)
	}
	if got := placesOf(in, []string{"a", "b"}, false); countPlaces(got) != 4 {
		t.Errorf("of an account with regions of its own: %v", got)
	}
}
