package kubernetes_test

import (
	"fmt"
	"reflect"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// pod puts a pod on a node, with an owner "Kind/name" and the requests of its only container.
func (f *fixture) pod(node, name, owner, requests string) {
	f.Helper()
	var kind, of string
	_, _ = fmt.Sscanf(owner, "%s %s", &kind, &of)
	var cores, memory string
	_, _ = fmt.Sscanf(requests, "%s %s", &cores, &memory)
	meta := fields{"namespace": "shop", "name": name, "labels": fields{"pod-template-hash": "7d9f"}}
	if kind != "" {
		meta["ownerReferences"] = []any{fields{
			"apiVersion": "v1", "kind": kind, "name": of, "uid": "u",
			"controller": true,
		}}
	}
	f.Add("pods", fields{
		"metadata": meta, "status": fields{"phase": "Running"},
		"spec": fields{
			"nodeName": node,
			"containers": []any{fields{
				"name": "a", "image": "a:1",
				"resources": fields{"requests": fields{"cpu": cores, "memory": memory, "nvidia.com/gpu": "1"}},
			}},
		},
	})
}

func (f *fixture) node(name, providerID string) {
	f.Helper()
	f.Add("nodes", fields{
		"metadata": fields{
			"name": name,
			"labels": fields{
				"node.kubernetes.io/instance-type": "m5.large",
				"topology.kubernetes.io/zone":      "eu-west-1a",
			},
		},
		"spec": fields{"providerID": providerID},
		"status": fields{
			"capacity":    fields{"cpu": "2", "memory": "8Gi", "nvidia.com/gpu": "1"},
			"allocatable": fields{"cpu": "1900m", "memory": "7680Mi", "pods": "29"},
		},
	})
}

func TestNodes_TellWhatTheyHaveAndWhatIsRequestedOfThem(t *testing.T) {
	f := newFixture(t)
	f.Page = 1
	f.node("n1", "aws:///eu-west-1a/i-0abc")
	f.node("n2", "gce://prj/europe-west1-b/gke-1")
	f.pod("n1", "web-7d9f-1", "ReplicaSet web-7d9f", "250m 1Gi")
	f.pod("n1", "web-7d9f-2", "ReplicaSet web-7d9f", "250m 512Mi")
	f.pod("n1", "db-0", "StatefulSet db", "1 2Gi")
	f.pod("n2", "report-29000000-x", "Job report-29000000", "100m 1Gi")
	f.pod("n2", "migrate-x", "Job migrate-1", "100m 1Gi")
	f.pod("n2", "alone", "", "100m 1Gi")
	f.pod("", "waits", "", "100m 1Gi")
	f.pod("n2", "ended", "", "100m 1Gi")
	f.Change("pods", "shop/ended", func(o fields) { at(o, "status")["phase"] = "Succeeded" })
	f.pod("n2", "no-image", "", "100m 1Gi")
	f.Change("pods", "shop/no-image", func(o fields) {
		at(o, "status")["containerStatuses"] = []any{
			fields{"state": fields{"waiting": fields{"reason": "ImagePullBackOff"}}},
		}
	})
	got, _, err := f.listOthers()
	f.must(err)
	n1, n2 := got[kubernetestwin.UID+"//nodes/n1"], got[kubernetestwin.UID+"//nodes/n2"]
	if n1.InstanceType != "m5.large" || n1.Zone != "eu-west-1a" {
		t.Errorf("node %+v", n1)
	}
	want := cloud.Facts{
		"cpu_cores": 2.0, "mem_gib": 8.0, "gpu_count": 1.0, "machine": "i-0abc",
		"workloads":         []string{"shop/Deployment/web 2 0.5 1.5 2", "shop/StatefulSet/db 1 1 2 1"},
		"allocatable_cores": 1.9, "allocatable_gib": 7.5, "allocatable_pods": 29.0,
		"gpu_allocatable": 0.0, "unschedulable": false, "unschedulable_since": cloud.Never, "workload_pods": 3.0,
		"scale_down_blocked": false,
	}
	if !reflect.DeepEqual(n1.Facts, want) {
		t.Errorf("facts %v, want %v", n1.Facts, want)
	}
	if w := []string{
		"shop/CronJob/report 1 0.1 1 1", "shop/Job/migrate-1 1 0.1 1 1",
		"shop/Pod/alone 1 0.1 1 1",
	}; !reflect.DeepEqual(n2.Facts["workloads"], w) {
		t.Errorf("workloads %v, want %v", n2.Facts["workloads"], w)
	}
	if m := n2.Facts["machine"]; m != "//compute.googleapis.com/projects/prj/zones/europe-west1-b/instances/gke-1" {
		t.Errorf("machine %v", m)
	}
	if n := len(f.Calls("list pods")); n != 9 { // as many pages as there are pods, once
		t.Errorf("pods were listed with %d calls", n)
	}
}

func TestNodes_WithoutPodsSayWhatIsMissing(t *testing.T) {
	f := newFixture(t)
	f.node("n1", "azure:///subscriptions/S/resourceGroups/mc/providers/Microsoft.Compute/virtualMachineScaleSets/"+
		"Aks-1/virtualMachines/0")
	f.Deny("list pods")
	got, _, err := f.listOthers()
	f.wantClass("the pods themselves", err, cloud.Denied)
	facts := got[kubernetestwin.UID+"//nodes/n1"].Facts
	if _, told := facts["workloads"]; told || fmt.Sprint(facts[cloud.Unread]) != "[scale_down_blocked: list pods: "+
		"Forbidden workload_pods: list pods: Forbidden workloads: list pods: Forbidden]" {
		t.Errorf("facts %v", facts)
	}
	want := "/subscriptions/s/resourcegroups/mc/providers/microsoft.compute/virtualmachinescalesets/aks-1"
	if m := facts["machine"]; m != want {
		t.Errorf("machine %v", m)
	}
}
