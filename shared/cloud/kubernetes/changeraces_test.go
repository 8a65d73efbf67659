package kubernetes_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// A change of the object at the same moment wins; a change of its status does not matter.
func TestChanger_AChangeAtTheSameMomentIsNotOverwritten(t *testing.T) {
	for name, r := range map[string]struct {
		meddle func(o fields)
		says   string
	}{
		"of its replicas": {func(o fields) { o["spec"].(fields)["replicas"] = 7 }, "somebody has changed web"},
		"of its status":   {func(o fields) { o["status"].(fields)["conditions"] = []any{fields{"type": "x"}} }, ""},
		"of its count of templates": {func(o fields) {
			o["metadata"].(fields)["annotations"] = fields{"deployment.kubernetes.io/revision": "2"}
		}, ""},
		"by the lost call before": {func(o fields) {
			containerIn(o)["resources"].(fields)["requests"].(fields)["cpu"] = "58m"
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newCase(t, "less CPU")
			p := c.plan(t, s)
			s.Between("patch deployments.apps", func() { s.ChangeLocked("deployments", "changes/web", r.meddle) })
			err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: c.change(s), Set: p.After})
			is := containerIn(s.Get("deployments", "changes/web"))["resources"].(fields)["requests"].(fields)["cpu"]
			if r.says == "" {
				if err != nil || is != "58m" {
					t.Errorf("%v: it requests %v", err, is)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), r.says) || cloud.ClassOf(err).Retryable() || is != "1" {
				t.Errorf("%v, want %q; it requests %v", err, r.says, is)
			}
		})
	}
}

func TestChanger_ErrorsHaveTheirClass(t *testing.T) {
	for name, r := range map[string]struct {
		meddle func(s twinStage)
		class  cloud.Class
	}{
		"forbidden": {func(s twinStage) { s.Deny("patch deployments.apps") }, cloud.Denied},
		"gone":      {func(s twinStage) { s.Remove("deployments", "changes/web") }, cloud.NotFound},
		"on its way out": {func(s twinStage) {
			s.Change("deployments", "changes/web", func(o fields) {
				o["metadata"].(fields)["deletionTimestamp"] = "2026-03-01T09:00:00Z"
			})
		}, cloud.NotFound},
		"an admission": {func(s twinStage) {
			s.AddFault(kubernetestwin.Fault{
				Op: "patch deployments.apps", Code: 403, Reason: "Forbidden", Times: -1,
				Message: `admission webhook "policy" denied the request`,
			})
		}, cloud.Unsupported},
	} {
		t.Run(name, func(t *testing.T) {
			s, c := newCase(t, "less CPU")
			p := c.plan(t, s)
			r.meddle(s)
			err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: c.change(s), Set: p.After})
			if err == nil || cloud.ClassOf(err) != r.class {
				t.Errorf("%v, want class %d", err, r.class)
			}
		})
	}
	s, c := newCase(t, "less CPU")
	for _, bad := range []func(*cloud.Change){
		func(c *cloud.Change) { c.UID = "another/changes/deployments/web" },
		func(c *cloud.Change) { c.Region = "eu-west-1" },
		func(c *cloud.Change) { c.Kind = "kubernetes-secret" },
		func(c *cloud.Change) { c.Want = cloud.Values{"replicas": "9"} },
		func(c *cloud.Change) { c.Want = cloud.Values{"cpu_request_cores": "many"} },
	} {
		want := c.change(s)
		bad(&want)
		if _, err := s.changer().PlanChange(t.Context(), want); err == nil || cloud.ClassOf(err).Retryable() {
			t.Errorf("%+v: %v", want, err)
		}
	}
}

// A rollout that is under way, or that the cluster has given up, is told by the value that a change waits for.
func TestChanger_TellsHowTheRolloutGoes(t *testing.T) {
	s, c := newCase(t, "less CPU")
	p := c.plan(t, s)
	want := c.change(s)
	s.StallControllers(true)
	call := cloud.ChangeCall{Change: want, Set: p.After}
	if err := s.changer().ApplyChange(t.Context(), call); err != nil {
		t.Fatal(err)
	}
	check := func(state string) {
		t.Helper()
		reached, now, err := s.changer().CheckChange(t.Context(), call)
		if err != nil || reached != (state == cloud.RolloutComplete) || now[cloud.RolloutValue] != state {
			t.Errorf("%v %v %v, want %s", reached, now, err, state)
		}
	}
	check(cloud.RolloutProgressing)
	s.StallControllers(false)
	s.settle()
	check(cloud.RolloutComplete)
	s.Change("deployments", "changes/web", func(o fields) {
		o["status"].(fields)["conditions"] = []any{
			fields{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
		}
	})
	check(cloud.RolloutFailed)
}

// Only the fields of the values are stored: the environment of a container may hold what is secret.
func TestChanger_StoresNothingOfAWorkloadButItsValues(t *testing.T) {
	s, c := newCase(t, "less CPU")
	s.Change("deployments", "changes/web", func(o fields) {
		containerIn(o)["env"] = []any{fields{"name": "PASSWORD", "value": "hunter2hunter2"}}
	})
	p := c.plan(t, s)
	if strings.Contains(string(p.Native), "hunter2") || !strings.Contains(string(p.Native), `"cpu":"1"`) {
		t.Errorf("it stores %s", p.Native)
	}
}

// What somebody sets between a change and its undo stays: the undo gives the fields of the change back, and no more.
func TestChanger_TheUndoKeepsWhatOthersSet(t *testing.T) {
	s, c := newCase(t, "less CPU")
	p := c.plan(t, s)
	want := c.change(s)
	apply(t, s, want, p.After)
	s.Change("deployments", "changes/web", func(o fields) { containerIn(o)["image"] = "registry.invalid/app:2" })
	err := s.changer().ApplyChange(t.Context(), cloud.ChangeCall{Change: want, Set: p.Before, Native: p.Native})
	o := containerIn(s.Get("deployments", "changes/web"))
	if cpu := o["resources"].(fields)["requests"].(fields)["cpu"]; err != nil || cpu != "1" ||
		o["image"] != "registry.invalid/app:2" {
		t.Errorf("%v: %v", err, o)
	}
}
