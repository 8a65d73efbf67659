package simulated

import (
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestTheSimulatedCloudKeepsTheContractOfClouds(t *testing.T) {
	p := New(tabletest.New(t), clock.System{})
	a := account(map[string]string{
		"size": "100", "regions": "eu-west-1,us-east-1", "stopped": "0", "transitionSeconds": "0.02", "pageSize": "7",
	})
	refused := account(map[string]string{"refuse": "true"})
	refused.ID = "ca_refused"
	cloudtest.Run(t, p, cloudtest.Fixture{
		Account: a, NativeID: a.NativeID, Refused: &refused, Groups: groups(t, p, a),
		Metered: metered(t, p, a), Autoscaled: autoscaledGroups(t, p, a),
		Throttle: func(calls int) { ThrottleCalls(p, a.ID, calls) },
		Deny:     func(on bool) { DenyCapability(p, a.ID, startStop, on) },
	})
}

func TestTheSimulatedCloudTellsEverythingElseAsCloudsDo(t *testing.T) {
	p := New(tabletest.New(t), clock.System{})
	a := account(map[string]string{
		"size": "200", "regions": "eu-west-1", "kinds": "aws-ebs,aws-s3,azure-disk,gcp-disk",
		"pageSize": "7",
	})
	s := apitest.Value(parseSettings(a))(t)
	c := &cloudtest.Collective{Region: "eu-west-1", Facts: map[string]string{}, Pages: 10, Break: func(on bool) {
		DenyCapability(p, a.ID, discover, on)
	}}
	for i, k := range kinds {
		if k.Type == "aws-ebs" {
			c.Facts[s.nativeUID(node{kind: uint8(i), region: 3})] = "size_gb"
		}
	}
	cloudtest.Run(t, p, cloudtest.Fixture{Account: a, NativeID: a.NativeID, Collective: c})
}

func metered(t *testing.T, p cloud.Provider, a cloud.Account) []cloudtest.Metered {
	t.Helper()
	for _, g := range groups(t, p, a) {
		if g.Kind != "aws-rds" {
			continue
		}
		return []cloudtest.Metered{{
			Kind: g.Kind, Region: g.Region, Measured: g.Free[:1], Missing: g.Missing, Many: g.Free,
			PerCall: perMetricCall,
			Start:   clock.System{}.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1), Unmeasured: "aws-sns",
			Deny: func(on bool) { DenyCapability(p, a.ID, discover, on) },
		}}
	}
	t.Fatal("the account has no databases")
	return nil
}

// autoscaledGroups returns one of each kind that is scaled and can be acted on.
func autoscaledGroups(t *testing.T, p cloud.Provider, a cloud.Account) []cloudtest.Autoscaled {
	t.Helper()
	c := apitest.Value(p.Connect(t.Context(), a))(t)
	var out []cloudtest.Autoscaled
	for _, g := range groups(t, p, a) {
		if !slices.Contains(cloud.AutoscaledTypes(), g.Kind) {
			continue
		}
		uid := g.Free[0]
		out = append(out, cloudtest.Autoscaled{
			Kind: g.Kind, Region: g.Region, UID: uid, Missing: g.Missing, Unscaled: cloud.AWSEC2,
			Mutations: func() int { return int(p.(*provider).worldOf(a.ID).seq) },
			Other: func(t *testing.T) {
				t.Helper()
				got := apitest.Value(c.(cloud.Autoscaler).ReadAutoscaling(t.Context(), g.Kind, g.Region, uid))(t)
				desired := got.Desired + 1
				largest := max(got.Max, desired)
				if err := c.Scale(t.Context(), g.Kind, g.Region, uid,
					cloud.Capacity{Desired: &desired, Max: &largest}); err != nil {
					t.Fatal(err)
				}
			},
		})
	}
	return out
}

// groups returns the kinds in one region: resources that can be acted on, resources that cannot, and a name past the
// last.
func groups(t *testing.T, p cloud.Provider, a cloud.Account) []cloudtest.Group {
	t.Helper()
	s := apitest.Value(parseSettings(a))(t)
	var out []cloudtest.Group
	for i, k := range p.Kinds() {
		if k.Collected || cloud.IsCollective(k.Type) {
			continue
		}
		n := s.counts[i][0]
		g := cloudtest.Group{Kind: k.Type, Region: "eu-west-1", Tied: map[string]string{}, Pages: (n + 6) / 7}
		g.Missing = s.nativeUID(node{kind: uint8(i), region: 3, number: uint32(n)})
		for j := range n {
			one := node{kind: uint8(i), region: 3, number: uint32(j)}
			if why := s.whyUnschedulable(one); why != "" {
				g.Tied[s.nativeUID(one)] = why
			} else {
				g.Free = append(g.Free, s.nativeUID(one))
			}
		}
		out = append(out, g)
	}
	return out
}

// account returns a simulated account with these settings.
func account(settings map[string]string) cloud.Account {
	return cloud.Account{
		Org: "org_1", ID: "ca_1", Provider: Name, NativeID: "123456789012", AuthMethod: AuthMethod,
		Credentials: settings,
	}
}
