package gcp_test

import (
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// scaledGroup is a group with its scaling.
func scaledGroup(tw *gcptwin.Cloud, one gcptwin.Group) cloudtest.Autoscaled {
	g := tw.AddGroup(one)
	return cloudtest.Autoscaled{
		Kind: cloud.GCPMIG, Region: region, UID: g.UID(),
		Missing: (&gcptwin.Group{Name: "nothing", Zone: region + "-b"}).UID(), Unscaled: cloud.GCPCompute,
		Fixed: one.Scaler == nil, Loose: true,
		Other: func(*testing.T) { tw.ChangeLocked(func() { g.Size++ }) },
		Mutations: func() int {
			n := 0
			for _, c := range tw.Calls("") {
				op := c.Op[strings.LastIndexByte(c.Op, '.')+1:]
				if slices.Contains([]string{"patch", "resize", "insert", "delete"}, op) {
					n++
				}
			}
			return n
		},
	}
}

func TestAutoscaling_OverTheTwinKeepsTheContract(t *testing.T) {
	tw := &gcptwin.Cloud{Page: 2}
	cloudtest.Run(t, gcp.New(options(tw)), cloudtest.Fixture{
		Account: keyAccount(gcptwin.KeyFile()), NativeID: gcptwin.Project, Settle: tw.SettleAll,
		Autoscaled: []cloudtest.Autoscaled{
			scaledGroup(tw, gcptwin.Group{Name: "web", Zone: region + "-b", Size: 2}),
			scaledGroup(tw, gcptwin.Group{Name: "jobs", Region: region, Size: 2}),
			scaledGroup(tw,
				gcptwin.Group{
					Name: "api", Zone: region + "-c", Size: 3,
					Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON", CPU: 0.75, Cooldown: 90},
				}),
			scaledGroup(tw,
				gcptwin.Group{
					Name: "shop", Region: region, Size: 4,
					Scaler: &gcptwin.Scaler{Min: 1, Max: 6, Mode: "ON", Description: "of the shop", Cooldown: 60},
				}),
			scaledGroup(tw,
				gcptwin.Group{
					Name: "off", Region: region, Size: 4,
					Scaler: &gcptwin.Scaler{Min: 1, Max: 6, Mode: "OFF", CPU: 0.5, Cooldown: 60},
				}),
		},
	})
	needed := gcp.ListRequiredPermissions().Scale
	for _, op := range []string{"create", "update", "delete"} {
		if !slices.Contains(needed, "compute.autoscalers."+op) {
			t.Errorf("compute.autoscalers.%s is used, and customers are not told to allow it", op)
		}
	}
}

func TestAutoscaling_LeavesACustomersAutoscalerThatCameSince(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(gcptwin.Group{Name: "web", Zone: region + "-b", Size: 2})
	a := c.(cloud.Autoscaler)
	found, err := a.ReadAutoscaling(t.Context(), cloud.GCPMIG, region, g.UID())
	if err != nil {
		t.Fatal(err)
	}
	tw.ChangeLocked(func() { g.Scaler = &gcptwin.Scaler{Min: 1, Max: 9, Mode: "ON", CPU: 0.7} })
	if err := a.SetAutoscaling(t.Context(), cloud.GCPMIG, region, g.UID(), found); err != nil || g.Scaler == nil {
		t.Errorf("%v, autoscaler %+v; want the customer's left alone", err, g.Scaler)
	}
}

// scaleAndBack has an autoscaler made for a group that has none, and removed again.
func scaleAndBack(t *testing.T, tw *gcptwin.Cloud, a cloud.Autoscaler) {
	t.Helper()
	g := tw.AddGroup(gcptwin.Group{Name: "bare", Zone: region + "-b", Size: 2})
	found, err := a.ReadAutoscaling(t.Context(), cloud.GCPMIG, region, g.UID())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []cloud.Autoscaling{{Min: 1, Max: 3, Desired: 2}, found} {
		if err := a.SetAutoscaling(t.Context(), cloud.GCPMIG, region, g.UID(), want); err != nil {
			t.Fatal(err)
		}
	}
}
