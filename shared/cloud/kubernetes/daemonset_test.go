package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
)

const daemonSet = cloud.KubernetesDaemonSet

func (f *fixture) selector(at_ string) string {
	f.Helper()
	b, err := json.Marshal(at(f.Get("daemonsets", at_), "spec", "template", "spec")["nodeSelector"])
	f.must(err)
	return string(b)
}

func TestDaemonSet_IsStoppedOnNoNodeAndComesBackAsItWas(t *testing.T) {
	for name, selector := range map[string]fields{"without a selector": nil, "with a selector": {"disk": "ssd"}} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			u := f.add("daemonsets", daemon("shop", "agent", selector))
			f.settle()
			before, was := f.wantStatus("at first", daemonSet, u, cloud.Running), f.selector("shop/agent")
			if selector != nil && string(before.Snapshot) != `{"nodeSelector":{"disk":"ssd"}}` {
				t.Errorf("remembered %s", before.Snapshot)
			}
			f.must(f.act(cloud.Stop, daemonSet, cloud.Target{UID: u}))
			f.wantStatus("before its controller has seen it", daemonSet, u, cloud.Stopping)
			f.Settle()
			if s := f.wantStatus("while a pod ends", daemonSet, u, cloud.Stopping); !strings.Contains(s.Reason,
				"1 pods") {
				t.Errorf("reason %q", s.Reason)
			}
			f.settle()
			if s := f.wantStatus("stopped", daemonSet, u, cloud.Stopped); s.Snapshot != nil {
				t.Errorf("it is off, and would be remembered as %s", s.Snapshot)
			}
			f.ForgetCalls()
			f.must(f.act(cloud.Stop, daemonSet, cloud.Target{UID: u}))
			if n := len(f.Calls("patch")); n != 0 {
				t.Errorf("a repeated stop changes it %d times", n)
			}
			f.must(f.act(cloud.Start, daemonSet, cloud.Target{UID: u, Snapshot: before.Snapshot}))
			f.settle()
			f.wantStatus("started", daemonSet, u, cloud.Running)
			if got := f.selector("shop/agent"); got != was {
				t.Errorf("its selector is %s; want %s", got, was)
			}
			if a := at(f.Get("daemonsets", "shop/agent"), "metadata", "annotations"); len(a) != 1 {
				t.Errorf("it keeps %v; want what its owner said alone", a)
			}
		})
	}
}

// A start removes only the condition that the stop added. Changes of the selector by others stay.
func TestDaemonSet_AStartKeepsWhatWasChangedMeanwhile(t *testing.T) {
	f := newFixture(t)
	u := f.add("daemonsets", daemon("shop", "agent", fields{"disk": "ssd"}))
	before := f.state(daemonSet, u)
	f.must(f.act(cloud.Stop, daemonSet, cloud.Target{UID: u}))
	f.Change("daemonsets", "shop/agent", func(o fields) {
		at(o, "spec", "template", "spec", "nodeSelector")["kubernetes.io/os"] = "linux"
	})
	f.must(f.act(cloud.Start, daemonSet, cloud.Target{UID: u, Snapshot: before.Snapshot}))
	if got := f.selector("shop/agent"); got != `{"disk":"ssd","kubernetes.io/os":"linux"}` {
		t.Errorf("its selector is %s", got)
	}
}

func TestDaemonSet_IsStoppedOnlyWhereItsOwnerSaysSo(t *testing.T) {
	for name, mark := range map[string]fields{
		"nothing said": {}, "said otherwise": {"annotations": fields{"lamplighter.dev/allow-stop": "false"}},
		"by annotation": {"annotations": fields{"lamplighter.dev/allow-stop": "true"}},
		"by label":      {"labels": fields{"lamplighter.dev/allow-stop": "true"}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			o := daemon("shop", "agent", nil)
			delete(o["metadata"].(fields), "annotations")
			maps.Copy(o["metadata"].(fields), mark)
			u := f.add("daemonsets", o)
			f.settle()
			page, err := f.conn.List(t.Context(), daemonSet, "cluster", "")
			f.must(err)
			said := strings.HasPrefix(name, "by ")
			if len(page.Resources) != 1 || page.Resources[0].Capacity["desired"] != 3 ||
				(page.Resources[0].Unschedulable == "") != said {
				t.Errorf("listed as %+v", page.Resources)
			}
			err = f.act(cloud.Stop, daemonSet, cloud.Target{UID: u})
			if said {
				f.must(err)
				return
			}
			if f.wantClass("stop", err, cloud.Unsupported); !strings.Contains(fmt.Sprint(err),
				"kubectl annotate daemonset agent --namespace shop lamplighter.dev/allow-stop=true") {
				t.Errorf("%v; want what to do", err)
			}
		})
	}
}
