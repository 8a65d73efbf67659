package allocation

import (
	"fmt"
	"strconv"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/seed"
)

func of(cpu, memory, gpu string) map[Resource]money.Amount {
	return map[Resource]money.Amount{
		CPU: money.MustParse(cpu), Memory: money.MustParse(memory),
		GPU: money.MustParse(gpu),
	}
}

// TestSplit_IsAsTheSpecificationSays scales the rates of the specification's example: a node of $35 a month with a
// GPU, a core and a GB, at 30, 30 and 10.
func TestSplit_IsAsTheSpecificationSays(t *testing.T) {
	n := Node{Name: "n", Capacity: of("1", "1", "1"), Hours: money.FromInt(730), Cost: money.FromInt(35)}
	base := Rates{GPU: money.FromInt(30), CPU: money.FromInt(30), Memory: money.FromInt(10)}
	parts, err := Split([]Node{n}, []Container{
		{
			Node: "n", Namespace: "shop", Workload: "web", Requested: of("0.5", "0.25", "0"),
			Used:  of("0.1", "0.5", "0"),
			Hours: money.FromInt(730),
		},
		{Node: "n", Namespace: "shop", Workload: "web", Requested: of("0.5", "0", "0"), Hours: money.FromInt(365)},
		{Node: "n", Namespace: "batch", Workload: "train", Requested: of("0", "0", "1"), Hours: money.FromInt(73)},
		{
			Node: "n", Namespace: "batch", Workload: "broken", Requested: of("1", "1", "1"), Hours: money.FromInt(730),
			Waiting: true,
		},
	}, base)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range parts {
		got = append(got,
			fmt.Sprintf("%s/%s %s+%s+%s=%s", p.Namespace, p.Workload, p.By[CPU], p.By[Memory], p.By[GPU], p.Cost))
	}
	want := "[batch/broken 0+0+0=0 batch/train 0+0+1.5=1.5 shop/web 11.25+2.5+0=13.75 / 3.75+2.5+13.5=19.75]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

func TestSplit_SharesWhatIsTakenMoreThanThereIs(t *testing.T) {
	n := Node{Name: "n", Capacity: of("1", "1", "0"), Hours: money.FromInt(1), Cost: money.FromInt(8)}
	parts, err := Split([]Node{n}, []Container{
		{Node: "n", Namespace: "a", Used: of("3", "0", "0"), Hours: money.FromInt(1)},
		{Node: "n", Namespace: "b", Used: of("1", "0", "0"), Hours: money.FromInt(1)},
	}, Rates{CPU: money.FromInt(1), Memory: money.FromInt(1)})
	if err != nil || parts[0].Cost != money.FromInt(3) || parts[1].Cost != money.FromInt(1) ||
		parts[2].Cost != money.FromInt(4) {
		t.Errorf("got %+v, %v", parts, err)
	}
	if _, err = Split(nil, []Container{{Node: "x"}}, DefaultRates()); !fault.Is(err, fault.Invalid) {
		t.Errorf("of an unknown node: %v", err)
	}
}

func TestSplit_AddsUpToWhatNodesCost(t *testing.T) {
	r := seed.Fixed(t, 1, 2)
	some := func(n int) money.Amount { return money.FromScaled(r.Int64N(int64(n)), 3) }
	for range 200 {
		var nodes []Node
		var all []Container
		total := money.Amount{}
		for n := range 1 + r.IntN(4) {
			one := Node{
				Name:     strconv.Itoa(n),
				Capacity: map[Resource]money.Amount{CPU: some(9000), Memory: some(64000), GPU: some(2)},
				Hours:    some(24000), Cost: some(1e9),
			}
			nodes, total = append(nodes, one), total.Add(one.Cost)
			for range r.IntN(6) {
				all = append(all, Container{
					Node: one.Name, Namespace: strconv.Itoa(r.IntN(3)), Workload: strconv.Itoa(r.IntN(3)),
					Requested: map[Resource]money.Amount{CPU: some(3000), Memory: some(9000)},
					Used:      map[Resource]money.Amount{CPU: some(3000), Memory: some(9000)}, Hours: some(24000),
					Waiting: r.IntN(9) == 0,
				})
			}
		}
		parts, err := Split(nodes, all, DefaultRates())
		if err != nil {
			t.Fatal(err)
		}
		sum := money.Amount{}
		for _, p := range parts {
			if p.Cost.Sign() < 0 {
				t.Errorf("a part of %s", p.Cost)
			}
			sum = sum.Add(p.Cost)
		}
		if sum != total {
			t.Fatalf("the parts add up to %s, not to %s", sum, total)
		}
	}
}

// TestSplit_LeavesIdleWhatNobodyTakes uses a node of 4 cores and 16 GiB, whose price is divided over both.
func TestSplit_LeavesIdleWhatNobodyTakes(t *testing.T) {
	n := Node{Name: "n", Capacity: of("4", "16", "0"), Hours: money.FromInt(1), Cost: money.MustParse("0.192")}
	half := Container{Node: "n", Requested: of("2", "8", "0"), Hours: money.FromInt(1)}
	for name, c := range map[string]struct {
		all  []Container
		idle string
	}{
		"nothing runs":          {nil, "0.192"},
		"half of it is taken":   {[]Container{half}, "0.096"},
		"all of it is taken":    {[]Container{half, half}, "0.000"},
		"more than it is asked": {[]Container{half, half, half}, "0.000"},
	} {
		parts, err := Split([]Node{n}, c.all, DefaultRates())
		if idle := parts[len(parts)-1]; err != nil || !idle.Idle || idle.Cost.Fixed(3) != c.idle {
			t.Errorf("%s: %s of it idle, %v; want %s", name, idle.Cost.Fixed(3), err, c.idle)
		}
	}
}
