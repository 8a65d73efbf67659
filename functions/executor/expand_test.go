package executor

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/seed"
)

func members(r *rand.Rand, n int) []inventory.Member {
	out := make([]inventory.Member, n)
	for i := range out {
		out[i] = inventory.Member{
			ResourceID: id.New("res", noon), UID: fmt.Sprintf("i-%06d", i), Provider: "simulated",
			Type:   []string{"aws-ec2", "aws-rds"}[r.IntN(2)],
			Region: []string{"eu-west-1", "us-east-1"}[r.IntN(2)], CloudAccountID: "ca_1", Tier: 1 + r.IntN(3),
			Order: 1 + r.IntN(3),
		}
	}
	return out
}

func TestChunksKeepTheOrderAndLoseNobody(t *testing.T) {
	r := seed.Fixed(t, 1, 2)
	for _, verb := range []cloud.Verb{cloud.Start, cloud.Stop} {
		for range 50 {
			ms := members(r, r.IntN(3000))
			place := map[string]inventory.Member{}
			for _, m := range ms {
				place[m.UID] = m
			}
			seen := map[string]bool{}
			last := 0
			for _, c := range cutChunks("bulk_01k00000000000000000000000", verb, ms) {
				if len(c.Members) == 0 || len(c.Members) > chunkSize || c.step < c.FirstStep || c.step > c.LastStep {
					t.Fatalf("chunk of %d at step %d of %d to %d", len(c.Members), c.step, c.FirstStep, c.LastStep)
				}
				for _, m := range c.Members {
					p := place[m.ResourceUID]
					rank := 10*p.Tier + p.Order
					if verb == cloud.Stop {
						rank = -rank
					}
					if last != 0 && rank < last {
						t.Fatalf("%s: tier %d order %d comes after %d", verb, p.Tier, p.Order, last)
					}
					last = rank
					if seen[m.ResourceUID] || p.Type != c.ResourceType || p.Region != c.Region || p.Tier != c.Tier {
						t.Fatalf("%s is in a chunk where it does not belong", m.ResourceUID)
					}
					seen[m.ResourceUID] = true
				}
			}
			if len(seen) != len(place) {
				t.Fatalf("%d of %d members are in chunks", len(seen), len(place))
			}
		}
	}
}

func TestAStopIsTheExactReverseOfAStart(t *testing.T) {
	ms := members(seed.Fixed(t, 3, 4), 500)
	steps := func(verb cloud.Verb) (out [][2]int) {
		for _, c := range cutChunks("bulk_01k00000000000000000000000", verb, ms) {
			p := [2]int{c.Tier, c.step}
			if len(out) == 0 || out[len(out)-1][0] != p[0] || out[len(out)-1][1] != p[1] {
				out = append(out, p)
			}
		}
		return out
	}
	up, down := steps(cloud.Start), steps(cloud.Stop)
	if len(up) != len(down) {
		t.Fatalf("%d steps up, %d down", len(up), len(down))
	}
	for i := range up {
		if up[i][0] != down[len(down)-1-i][0] {
			t.Errorf("step %d up is tier %d, the mirrored one down tier %d", i, up[i][0], down[len(down)-1-i][0])
		}
	}
}

func TestTheActionOfAMemberIsAlwaysTheSame(t *testing.T) {
	bulk := id.New("bulk", noon)
	a := execution.MemberAction(bulk, "res_a")
	if a != execution.MemberAction(bulk, "res_a") || a == execution.MemberAction(bulk, "res_b") ||
		!id.IsValid("act", a) {
		t.Errorf("action of a member: %s", a)
	}
	if got := id.TimeOf(a); !got.Equal(noon) {
		t.Errorf("made at %s, the bulk action at %s", got, noon)
	}
}
