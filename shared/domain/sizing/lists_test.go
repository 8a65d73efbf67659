package sizing

import (
	"fmt"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/pricing"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

var ireland = pricing.ProviderRegion{Provider: "aws", Region: "eu-west-1"}

// many returns a list as large as that of the largest region.
func many(n int) []cloud.MachineSize {
	out := make([]cloud.MachineSize, n)
	for i := range out {
		out[i] = cloud.MachineSize{
			Name: fmt.Sprint("m", i, "i.large"), VCPU: float64(i%128 + 1), GiB: float64(i%512 + 1),
			IOPS: float64(i * 37), MiBps: float64(i) * 1.19, Mbps: float64(i * 11), Hypervisor: "nitro",
			Drivers: []string{"nvme", "ena"},
			Zones:   []string{"eu-west-1a", "eu-west-1b"},
		}
	}
	return out
}

func TestStore_KeepsAListAsItWasRead(t *testing.T) {
	f := apitest.New(t)
	s := NewStore(f.Platform)
	if l := apitest.Value(s.Read(f.In(org), org, ireland))(f); l != nil {
		t.Errorf("a list that nobody has read: %+v", l)
	}
	all := many(1_300)
	f.Must(s.Write(f.In(org), org, ireland, all))
	l := apitest.Value(s.Read(f.In(org), org, ireland))(f)
	n := 0
	l.Each(func(got cloud.MachineSize) { n++ })
	got, known := l.Find("m7i.large")
	if n != len(all) || !known || fmt.Sprint(got) != fmt.Sprint(all[7]) || !l.At.Equal(f.Clock.Now()) {
		t.Errorf("%d sizes, %+v, of %s", n, got, l.At)
	}
	if _, known = l.Find("m9.large"); known {
		t.Error("an unknown type is found")
	}
	if other := apitest.Value(s.Read(f.In(apitest.OtherOrg), apitest.OtherOrg, ireland))(f); other != nil {
		t.Error("another organization sees the list")
	}
}

func TestStore_AnUnusableListLeavesTheOneBefore(t *testing.T) {
	f := apitest.New(t)
	s := NewStore(f.Platform)
	f.Must(s.Write(f.In(org), org, ireland, many(3)))
	for name, all := range map[string][]cloud.MachineSize{"empty": nil, "too large": many(60_000)} {
		if err := s.Write(f.In(org), org, ireland, all); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, known := apitest.Value(s.Read(f.In(org), org, ireland))(f).Find("m2i.large"); !known {
		t.Error("the list before is gone")
	}
}

func TestStore_ListsAreDueAfterDaysAndStaleAfterWeeks(t *testing.T) {
	f := apitest.New(t)
	s := NewStore(f.Platform)
	oregon := pricing.ProviderRegion{Provider: "aws", Region: "us-west-2"}
	pairs := []pricing.ProviderRegion{ireland, oregon}
	due := func() string { return fmt.Sprint(apitest.Value(s.Due(f.In(org), org, pairs))(f)) }
	f.Equal("at first", due(), "[aws in eu-west-1 aws in us-west-2]")
	f.Must(s.Write(f.In(org), org, ireland, many(3)))
	f.Equal("after one was read", due(), "[aws in us-west-2]")
	f.Clock.Advance(RenewAfter)
	f.Equal("after some days", due(), "[aws in eu-west-1 aws in us-west-2]")
	l := apitest.Value(s.Read(f.In(org), org, ireland))(f)
	f.Equal("stale after some days", l.Stale(f.Clock.Now()), false)
	f.Equal("stale after weeks", l.Stale(f.Clock.Now().Add(StaleAfter-RenewAfter+time.Second)), true)
}
