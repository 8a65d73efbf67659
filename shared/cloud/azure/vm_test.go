package azure_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

const vm = "azure-vm"

// A machine that was shut down from inside, or by the verb powerOff, keeps its hardware and its price.
func TestVM_PoweredOffIsNotStopped(t *testing.T) {
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		t.Run(string(v), func(t *testing.T) {
			tw, c := connect(t)
			m := tw.AddVM("web", region, func(r *azuretwin.Resource) { r.Power = "stopped" })
			s := state(t, c, vm, m.UID())
			if s.Status == cloud.Stopped || s.Status == cloud.Running || s.Status.IsTransitional() ||
				!strings.Contains(s.Reason, "billed") {
				t.Fatalf("a machine that is powered off is %+v; want neither running nor stopped nor on its "+
					"way, and why", s)
			}
			if err := act(t, c, v, vm, cloud.Target{UID: m.UID()}); err != nil {
				t.Fatal(err)
			}
			tw.SettleAll()
			if s := state(t, c, vm, m.UID()); s.Status != v.WantedStatus() {
				t.Errorf("after the %s: %+v", v, s)
			}
		})
	}
}

func TestVM_AStopDeallocates(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, nil)
	if err := act(t, c, cloud.Stop, vm, cloud.Target{UID: m.UID()}); err != nil {
		t.Fatal(err)
	}
	if n := len(tw.Calls("Microsoft.Compute/virtualMachines/powerOff/action")); n != 0 {
		t.Errorf("powerOff was called %d times", n)
	}
	calls := tw.Calls("Microsoft.Compute/virtualMachines/deallocate/action")
	if len(calls) != 1 || len(calls[0].Body) != 0 {
		t.Errorf("deallocate was called as %+v; want once, without a body", calls)
	}
}

func TestVM_AnEphemeralDiskIsRefused(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, ephemeral)
	if s := state(t, c, vm, m.UID()); !strings.Contains(s.Unschedulable, "ephemeral") {
		t.Errorf("state %+v; want why it cannot be deallocated", s)
	}
	wantClass(t, "deallocate", act(t, c, cloud.Stop, vm, cloud.Target{UID: m.UID()}), cloud.Unsupported)
}

func TestVM_NoRoomForAStartIsRetried(t *testing.T) {
	t.Run("told at once", func(t *testing.T) {
		tw, c := connect(t)
		m := tw.AddVM("web", region, func(r *azuretwin.Resource) { r.Power = "deallocated" })
		tw.AddFault(azuretwin.Fault{
			Op: "Microsoft.Compute/virtualMachines/start/action", Code: "AllocationFailed",
			Message: "Allocation failed.", Status: 409, Times: 1,
		})
		wantClass(t, "start", act(t, c, cloud.Start, vm, cloud.Target{UID: m.UID()}), cloud.NoCapacity)
	})
	t.Run("told by the operation", func(t *testing.T) {
		tw, c := connect(t)
		m := tw.AddVM("web", region, func(r *azuretwin.Resource) { r.Power = "deallocated" })
		tw.FailNext(m, "AllocationFailed",
			"We do not have sufficient capacity for the requested VM size in this region.")
		if err := act(t, c, cloud.Start, vm, cloud.Target{UID: m.UID()}); err != nil {
			t.Fatal(err)
		}
		if s := state(t, c, vm, m.UID()); s.Status != cloud.Starting {
			t.Errorf("after the start: %+v", s)
		}
		tw.SettleAll()
		s := state(t, c, vm, m.UID())
		if s.Status != cloud.Stopped || !s.NoCapacity ||
			!strings.HasPrefix(s.Reason, "AllocationFailed: We do not have sufficient capacity") {
			t.Errorf("after the start failed: %+v; want stopped, and Azure's reason", s)
		}
	})
}

func TestVM_MovingBothWaysIsToldAndWaitedFor(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, nil)
	for _, v := range []cloud.Verb{cloud.Stop, cloud.Start} {
		if err := act(t, c, v, vm, cloud.Target{UID: m.UID()}); err != nil {
			t.Fatal(err)
		}
		if s := state(t, c, vm, m.UID()); !s.Status.IsTransitional() {
			t.Errorf("during the %s: %+v", v, s)
		}
		wantClass(t, "an act on a machine on its way", act(t, c, cloud.Stop, vm, cloud.Target{UID: m.UID()}),
			cloud.Moving)
		tw.SettleAll()
		if s := state(t, c, vm, m.UID()); s.Status != v.WantedStatus() {
			t.Errorf("after the %s: %+v", v, s)
		}
	}
}

// Only a person removes a lock: a wait for it would last until the deadline.
func TestVM_ALockIsToldAndNotWaitedFor(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, func(r *azuretwin.Resource) { r.Locked = true })
	err := act(t, c, cloud.Stop, vm, cloud.Target{UID: m.UID()})
	wantClass(t, "stop of a locked machine", err, cloud.Unsupported)
	if err != nil && !strings.Contains(err.Error(), "remove the lock") {
		t.Errorf("the error %q is not in Azure's words", err)
	}
}

func TestVM_ALostAnswerHasItsEffectOnce(t *testing.T) {
	for name, strict := range map[string]bool{
		"a repeated verb is accepted":   false,
		"a repeated verb is a conflict": true,
	} {
		t.Run(name, func(t *testing.T) {
			tw, c := connect(t)
			tw.Strict = strict
			m := tw.AddVM("web", region, nil)
			tw.AddFault(azuretwin.Fault{
				Op: "Microsoft.Compute/virtualMachines/deallocate/action", Times: 1,
				Lost: true,
			})
			// The attempt that follows meets the operation of the first one.
			wantClass(t, "stop", act(t, c, cloud.Stop, vm, cloud.Target{UID: m.UID()}), cloud.Moving)
			tw.SettleAll()
			if s := state(t, c, vm, m.UID()); s.Status != cloud.Stopped {
				t.Errorf("after a lost answer: %+v", s)
			}
		})
	}
}

// An operation is not stored: its effect shows in its resource, so any process can verify it.
func TestVM_AnotherProcessVerifiesWhatOneBegan(t *testing.T) {
	tw, first := connect(t)
	m := tw.AddVM("web", region, nil)
	if err := act(t, first, cloud.Stop, vm, cloud.Target{UID: m.UID()}); err != nil {
		t.Fatal(err)
	}
	// a provider of its own, with tokens, limits and connections of its own
	second := open(t, tw, principal(azuretwin.Secret))
	if s := state(t, second, vm, m.UID()); s.Status != cloud.Stopping {
		t.Errorf("the second process sees %+v; want the operation of the first", s)
	}
	tw.SettleAll()
	if s := state(t, second, vm, m.UID()); s.Status != cloud.Stopped {
		t.Errorf("the second process sees %+v", s)
	}
	if n := len(tw.Calls("Microsoft.Compute/virtualMachines/deallocate/action")); n != 1 {
		t.Errorf("deallocate was called %d times; want once", n)
	}
}

func TestVM_OfAnotherSubscriptionOrTypeIsNotTouched(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, nil)
	for name, uid := range map[string]string{
		"another subscription":    strings.Replace(m.UID(), "11111111-", "22222222-", 1),
		"another type":            strings.Replace(m.UID(), "virtualmachines", "virtualmachinescalesets", 1),
		"a path that goes on":     m.UID() + "/deallocate",
		"a path with a query":     m.UID() + "?x=/providers/microsoft.compute/virtualmachines/web",
		"a path that climbs":      m.UID() + "/../other",
		"no id at all":            "web",
		"an id of another region": "",
	} {
		t.Run(name, func(t *testing.T) {
			if uid == "" {
				got, err := c.Read(t.Context(), vm, "northeurope", []string{m.UID()})
				if err != nil || len(got) != 0 {
					t.Errorf("Read = %v, %v; want nothing", got, err)
				}
				return
			}
			wantClass(t, "stop", act(t, c, cloud.Stop, vm, cloud.Target{UID: uid}), cloud.NotFound)
		})
	}
	if s := state(t, c, vm, m.UID()); s.Status != cloud.Running {
		t.Errorf("the machine is %+v", s)
	}
}

// The Resource Graph is minutes late, so an action never decides by it.
func TestVM_AnActionDoesNotBelieveTheIndex(t *testing.T) {
	tw, c := connect(t)
	m := tw.AddVM("web", region, nil)
	tw.FreezeGraph()
	if err := act(t, c, cloud.Stop, vm, cloud.Target{UID: m.UID()}); err != nil {
		t.Fatal(err)
	}
	tw.SettleAll()
	got, err := c.List(t.Context(), vm, region, "")
	if err != nil || len(got.Resources) != 1 || got.Resources[0].Status != cloud.Running {
		t.Fatalf("the index says %+v, %v; want that it is late", got, err)
	}
	if s := state(t, c, vm, m.UID()); s.Status != cloud.Stopped {
		t.Errorf("the live state is %+v", s)
	}
}

func TestList_AMachineIsDescribed(t *testing.T) {
	tw, c := connect(t)
	tw.AddVM("Web", region, func(r *azuretwin.Resource) { r.Body["zones"] = []any{"2"} })
	got, err := c.List(t.Context(), vm, region, "")
	if err != nil || len(got.Resources) != 1 {
		t.Fatalf("List = %+v, %v", got, err)
	}
	r := got.Resources[0]
	want := "/subscriptions/" + azuretwin.Subscription +
		"/resourcegroups/group-1/providers/microsoft.compute/virtualmachines/web"
	if r.UID != want || r.Name != "Web" || r.Zone != "2" || r.InstanceType != "Standard_D2s_v5" ||
		r.Tags["app"] != "Web" ||
		r.CreatedAt.Format("2006-01-02T15:04:05Z07:00") != "2026-01-02T03:04:05Z" || r.Status != cloud.Running {
		t.Errorf("listed as %+v", r)
	}
}
