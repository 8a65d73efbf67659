package sizing

import (
	"math/rand/v2"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

// In random catalogues, a target holds the use with headroom in each known dimension and its present limit in others,
// costs less, and has half of the present size at least.
func TestChoose_NeverGivesTooLittle(t *testing.T) {
	r := seed.Fixed(t, 1, 2)
	found := 0
	for n := range 10_000 {
		all, prices := randomTypes(r)
		present := all[r.IntN(len(all))]
		q := Question{
			Class: present.Name, Use: randomUse(r, present), OneStep: r.IntN(2) == 0, DiskFree: r.IntN(4) == 0,
			Disks: float64(r.IntN(8)), Price: func(class string) (money.Amount, bool) {
				usd, known := prices[class]
				return usd, known
			},
		}
		got := NewCatalogue("aws", all).Choose(q)
		if got.Class == "" {
			continue
		}
		found++
		if problem := tooLittle(q, present, got, prices); problem != "" {
			t.Fatalf("case %d: %s\npresent %+v\nuse %+v\nchoice %+v", n, problem, present, q.Use, got)
		}
	}
	if found < 500 {
		t.Errorf("only %d targets were found", found)
	}
	t.Logf("%d targets", found)
}

// tooLittle returns what a target lacks.
func tooLittle(q Question, present cloud.MachineSize, got Choice, prices map[string]money.Amount) string {
	s, u := got.Size, q.Use
	lacks := func(use, limit, before float64) bool { return use > 0 && limit < use || use == 0 && limit < before }
	switch {
	case s.VCPU < present.VCPU*u.CPU/0.8:
		return "processors"
	case u.GiB > 0 && s.GiB < u.GiB*1.25, u.GiB == 0 && s.GiB < present.GiB:
		return "memory"
	case !q.DiskFree && (lacks(u.IOPS, s.IOPS, present.IOPS) || lacks(u.MiBps, s.MiBps, present.MiBps)):
		return "disks"
	case lacks(u.Mbps, s.Mbps, present.Mbps):
		return "network"
	case prices[got.Class].Cmp(prices[present.Name]) >= 0:
		return "price"
	case q.OneStep && (s.VCPU < present.VCPU/2 || s.GiB < present.GiB/2):
		return "more than half is taken"
	case s.Arm != present.Arm || s.Hypervisor != present.Hypervisor || s.GPU || s.LocalDisk:
		return "another machine"
	case s.Disks > 0 && s.Disks < q.Disks:
		return "places for disks"
	}
	return ""
}

// randomTypes returns a catalogue with prices of most of its types.
func randomTypes(r *rand.Rand) ([]cloud.MachineSize, map[string]money.Amount) {
	var all []cloud.MachineSize
	prices := map[string]money.Amount{}
	maybe := func(v float64) float64 {
		if r.IntN(6) == 0 {
			return 0
		}
		return v * (0.5 + r.Float64())
	}
	for _, family := range []string{"m5", "c5", "r5", "m6a", "m6g", "t3", "x2idn", "g5"} {
		for i, size := range []string{"large", "xlarge", "2xlarge", "4xlarge"} {
			vcpu := float64(int(2) << i)
			s := cloud.MachineSize{
				Name: family + "." + size, VCPU: vcpu, GiB: vcpu * float64(2+r.IntN(7)), Arm: family == "m6g",
				GPU: family == "g5", LocalDisk: r.IntN(12) == 0, Burstable: family == "t3", Old: r.IntN(8) == 0,
				Hypervisor: []string{"nitro", "nitro", "nitro", "xen"}[r.IntN(4)], IOPS: maybe(vcpu * 1500),
				MiBps: maybe(vcpu * 40), Mbps: maybe(vcpu * 400), Disks: maybe(vcpu * 3),
			}
			all = append(all, s)
			if usd, err := money.FromFloat(vcpu * (0.02 + 0.04*r.Float64())); err == nil && r.IntN(9) > 0 {
				prices[s.Name] = usd
			}
		}
	}
	return all, prices
}

// randomUse returns the use of a machine, with unknown parts.
func randomUse(r *rand.Rand, s cloud.MachineSize) Use {
	part := func(limit float64) float64 {
		if r.IntN(5) == 0 {
			return 0
		}
		return limit * r.Float64() * r.Float64()
	}
	return Use{
		CPU: part(1), Average: part(0.5), GiB: part(s.GiB), IOPS: part(s.IOPS), MiBps: part(s.MiBps),
		Mbps: part(s.Mbps),
	}
}
