package gcp_test

import (
	"net/http"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// opsOf names the changes that were made, in order.
func opsOf(tw *gcptwin.Cloud) string {
	var ops []string
	for _, k := range tw.Calls("") {
		if k.Method != http.MethodGet && !strings.HasSuffix(k.Op, ".token") {
			ops = append(ops, k.Op)
		}
	}
	return strings.Join(ops, " ")
}

func TestAGroupIsResizedWhileItsAutoscalerIsOff(t *testing.T) {
	for name, g := range map[string]gcptwin.Group{
		"of a zone": {Zone: region + "-b"}, "of a region": {Region: region},
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			g.Name, g.Size, g.Scaler = "api", 3,
				&gcptwin.Scaler{Min: 2, Max: 9, Mode: "ONLY_SCALE_OUT", Description: "of Ada"}
			w := tw.AddGroup(g)
			before := state(t, c, cloud.GCPMIG, w.UID()).Snapshot
			if err := act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: w.UID()}); err != nil {
				t.Fatalf("stop: %v", err)
			}
			if ops := strings.Fields(opsOf(tw)); len(ops) != 2 || !strings.HasSuffix(ops[0], "utoscalers.patch") ||
				!strings.HasSuffix(ops[1], "roupManagers.resize") {
				t.Errorf("stopped by %v; want the autoscaler first", ops)
			}
			if w.Size != 0 || w.Scaler.Mode != "OFF" || w.Scaler.Min != 2 || w.Scaler.Max != 9 {
				t.Errorf("stopped: size %d, scaler %+v", w.Size, w.Scaler)
			}
			tw.SettleAll()
			tw.ForgetCalls()
			if s := state(t, c, cloud.GCPMIG, w.UID()); s.Status != cloud.Stopped || s.Snapshot != nil {
				t.Errorf("stopped, it reads %+v", s)
			}
			if err := act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: w.UID(), Snapshot: before}); err != nil {
				t.Fatalf("start: %v", err)
			}
			if ops := strings.Fields(opsOf(tw)); len(ops) != 2 || !strings.HasSuffix(ops[0], "roupManagers.resize") ||
				!strings.HasSuffix(ops[1], "utoscalers.patch") {
				t.Errorf("started by %v; want the size first", ops)
			}
			tw.SettleAll()
			if w.Size != 3 ||
				*w.Scaler != (gcptwin.Scaler{Min: 2, Max: 9, Mode: "ONLY_SCALE_OUT", Description: "of Ada"}) {
				t.Errorf("started: size %d, scaler %+v; want all as before", w.Size, w.Scaler)
			}
		})
	}
}

func TestAGroupThatIsHalfDoneIsActedOnAgain(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(gcptwin.Group{
		Name: "api", Zone: region + "-b", Size: 3,
		Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"},
	})
	before := state(t, c, cloud.GCPMIG, g.UID()).Snapshot
	stuck := gcptwin.Fault{
		Op: "compute.instanceGroupManagers.resize", Reason: "backendError", Message: "Backend Error",
		Status: 503, Times: -1,
	}
	tw.AddFault(stuck)
	wantClass(t, "stop that fails at its second call", act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()}),
		cloud.Transient)
	s := state(t, c, cloud.GCPMIG, g.UID())
	if s.Status != cloud.Pending || string(s.Snapshot) != string(before) ||
		!strings.Contains(s.Reason, "was ON before") {
		t.Errorf("half stopped it reads %+v with %s; want pending, with what was before: %s", s, s.Snapshot, before)
	}
	tw.EndFaults()
	if err := act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()}); err != nil || g.Size != 0 {
		t.Fatalf("second stop: %v, size %d", err, g.Size)
	}
	tw.SettleAll()
	tw.AddFault(gcptwin.Fault{
		Op: "compute.autoscalers.patch", Reason: "backendError", Message: "Backend Error",
		Status: 503, Times: -1,
	})
	wantClass(t, "start that fails at its second call",
		act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: g.UID(), Snapshot: before}), cloud.Transient)
	tw.SettleAll()
	if s := state(t, c, cloud.GCPMIG, g.UID()); s.Status != cloud.Pending {
		t.Errorf("half started it reads %s; want pending, not running, for its autoscaler is still off", s.Status)
	}
	tw.EndFaults()
	err := act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: g.UID(), Snapshot: before})
	if tw.SettleAll(); err != nil || g.Scaler.Mode != "ON" || g.Size != 3 || g.Scaler.Description != "" {
		t.Errorf("second start: %v, size %d, scaler %+v", err, g.Size, g.Scaler)
	}
}

func TestAResizeThatGoogleForbidsIsToBeReadAgain(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(gcptwin.Group{
		Name: "api", Zone: region + "-b", Size: 3,
		Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "OFF"},
	})
	tw.AddFault(gcptwin.Fault{
		Op: "compute.instanceGroupManagers.resize", Reason: "conditionNotMet",
		Message: "Resize is forbidden", Status: 412, Times: 1,
	})
	err := act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()})
	wantClass(t, "412", err, cloud.Moving)
	if n := len(tw.Calls("compute.instanceGroupManagers.resize")); n != 1 {
		t.Errorf("it was tried %d times without a look", n)
	}
}

// The autoscaler's change must have ended before the size is set: until then Google forbids that.
func TestAnAutoscalerThatIsSlowToGoOffIsWaitedForALittle(t *testing.T) {
	tw, c := connect(t)
	tw.Slow = true
	g := tw.AddGroup(gcptwin.Group{
		Name: "api", Zone: region + "-b", Size: 3,
		Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"},
	})
	wantClass(t, "stop", act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()}), cloud.Moving)
	if len(tw.Calls("compute.instanceGroupManagers.resize")) != 0 || g.Size != 3 {
		t.Error("the size was set while the autoscaler was on")
	}
	tw.SettleAll()
	tw.Slow = false
	if err := act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()}); err != nil || g.Size != 0 {
		t.Errorf("the next stop: %v, size %d", err, g.Size)
	}
}

func TestAGroupWhoseMemoryIsLostIsStartedByItsMark(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(gcptwin.Group{
		Name: "api", Zone: region + "-b", Size: 4,
		Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"},
	})
	if err := act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()}); err != nil {
		t.Fatal(err)
	}
	err := act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: g.UID()})
	if tw.SettleAll(); err != nil || g.Size != 4 || g.Scaler.Mode != "ON" {
		t.Errorf("start: %v, size %d, mode %s; want 4 and ON", err, g.Size, g.Scaler.Mode)
	}
}

// TestStart_InventsNoSizeOfAGroup starts groups that nothing is remembered of. A minimum of the autoscaler is a size
// that its owner has set.
func TestStart_InventsNoSizeOfAGroup(t *testing.T) {
	tw, c := connect(t)
	plain := tw.AddGroup(gcptwin.Group{Name: "plain", Zone: region + "-b"})
	scaled := tw.AddGroup(gcptwin.Group{
		Name: "scaled", Zone: region + "-b",
		Scaler: &gcptwin.Scaler{Min: 3, Max: 9, Mode: "OFF"},
	})
	idle := tw.AddGroup(gcptwin.Group{Name: "idle", Zone: region + "-b", Scaler: &gcptwin.Scaler{Max: 9, Mode: "ON"}})
	for name, memory := range map[string]string{
		"nothing remembered":                     "",
		"the memory of a group of the same name": `{"size":4,"made":"2025-01-01T08:00:00.000-08:00"}`,
	} {
		err := act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: plain.UID(), Snapshot: []byte(memory)})
		wantClass(t, "start with "+name, err, cloud.Unsupported)
		if err == nil || !strings.Contains(err.Error(), "plain has the size 0, and none is remembered") ||
			plain.Size != 0 {
			t.Errorf("start with %s: %v, size %d", name, err, plain.Size)
		}
	}
	if err := act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: scaled.UID()}); err != nil || scaled.Size != 3 ||
		scaled.Scaler.Mode != "OFF" {
		t.Errorf("started at %d, autoscaler %s, %v; want the minimum 3, and the autoscaler left off", scaled.Size,
			scaled.Scaler.Mode, err)
	}
	wantClass(t, "start of a group that its autoscaler keeps at 0",
		act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: idle.UID()}), cloud.Unsupported)
	wantClass(t, "start with a broken memory",
		act(t, c, cloud.Start, cloud.GCPMIG, cloud.Target{UID: plain.UID(), Snapshot: []byte(`[`)}), cloud.Invalid)
}

func TestAGroupIsRefusedThatAResizeWouldHarm(t *testing.T) {
	tw, c := connect(t)
	stateful := tw.AddGroup(gcptwin.Group{Name: "store", Zone: region + "-b", Size: 2, Stateful: true})
	nodes := tw.AddGroup(gcptwin.Group{Name: "gke-prod-blue-0a1b-grp", Zone: region + "-b", Size: 2, GKE: true})
	for _, g := range []*gcptwin.Group{stateful, nodes} {
		wantClass(t, "stop of "+g.Name, act(t, c, cloud.Stop, cloud.GCPMIG, cloud.Target{UID: g.UID()}),
			cloud.Unsupported)
		zero := int64(0)
		wantClass(t, "scale of "+g.Name,
			c.Scale(t.Context(), cloud.GCPMIG, region, g.UID(), cloud.Capacity{Desired: &zero}), cloud.Unsupported)
	}
	named := tw.AddGroup(gcptwin.Group{Name: "gke-of-mine", Zone: region + "-b", Size: 2})
	if s := state(t, c, cloud.GCPMIG, named.UID()); s.Unschedulable != "" {
		t.Errorf("a customer's own group with such a name: %q", s.Unschedulable)
	}
	wantUntouched(t, tw)
}

func TestAGroupWithoutMachinesSaysSo(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(gcptwin.Group{
		Name: "api", Zone: region + "-b", Size: 1, NoCapacity: true,
		Scaler: &gcptwin.Scaler{Min: 1, Max: 4, Mode: "OFF"},
	})
	tw.ChangeLocked(func() { g.Size = 3 })
	if s := state(t, c, cloud.GCPMIG, g.UID()); s.Status != cloud.Starting ||
		s.Reason != "1 of 3 instances are up: The zone has no machines of this type left" {
		t.Errorf("%+v", s)
	}
}

func TestAnAutoscaledGroupIsScaledByItsBounds(t *testing.T) {
	tw, c := connect(t)
	g := tw.AddGroup(gcptwin.Group{
		Name: "api", Zone: region + "-b", Size: 3,
		Scaler: &gcptwin.Scaler{Min: 2, Max: 9, Mode: "ON"},
	})
	plain := tw.AddGroup(gcptwin.Group{Name: "plain", Zone: region + "-b", Size: 3})
	zero, five := int64(0), int64(5)
	wantClass(t, "a size for it", c.Scale(t.Context(), cloud.GCPMIG, region, g.UID(), cloud.Capacity{Desired: &five}),
		cloud.Unsupported)
	wantClass(t, "a minimum where nothing scales",
		c.Scale(t.Context(), cloud.GCPMIG, region, plain.UID(), cloud.Capacity{Min: &five}), cloud.Unsupported)
	wantUntouched(t, tw)
	err := c.Scale(t.Context(), cloud.GCPMIG, region, g.UID(), cloud.Capacity{Min: &zero, Max: &five})
	if tw.SettleAll(); err != nil || g.Scaler.Min != 0 || g.Scaler.Max != 5 || g.Scaler.Mode != "ON" {
		t.Errorf("bounds 0 and 5: %v, scaler %+v", err, g.Scaler)
	}
	if body := tw.Calls("compute.autoscalers.patch")[0].Body; !strings.Contains(body, `"minNumReplicas":0`) {
		t.Errorf("the minimum of 0 was not sent: %s", body)
	}
}
