package kubernetes_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/clouds/cloudtest"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// tellAll adds one object of each type, with all facts, to the twin.
func (f *fixture) tellAll() {
	f.Helper()
	for resource, text := range map[string]string{
		"namespaces": `{"metadata":{"name":"shop-pr-7","labels":{"team":"web",
			"pod-security.kubernetes.io/enforce":"restricted"}},"status":{"phase":"Active"}}`,
		"deployments": `{"metadata":{"namespace":"shop-pr-7","name":"web",
			"labels":{"kustomize.toolkit.fluxcd.io/name":"shop"}},
			"spec":{"replicas":2,"selector":{"matchLabels":{"app":"web"}},
			"template":{"metadata":{"labels":{"app":"web"}},"spec":{"hostNetwork":true,"volumes":[{"name":"v",
			"hostPath":{"path":"/"}}],
			"tolerations":[{"key":"cloud.google.com/gke-spot"}],"topologySpreadConstraints":[{"maxSkew":1}],
			"containers":[
			{"name":"a","image":"registry:5000/web","resources":{"requests":{"cpu":"250m","memory":"1Gi"},
			"limits":{"cpu":1,"memory":"2Gi","nvidia.com/gpu":"1"}},
			"env":[{"name":"DB_PASSWORD","value":"x"}],"securityContext":{"privileged":true,
			"capabilities":{"add":["SYS_ADMIN"]}}},
			{"name":"b","image":"proxy:1.2","readinessProbe":{"httpGet":{}},"livenessProbe":{"httpGet":{}},
			"securityContext":{"runAsUser":1000}}]}}}}`,
		"statefulsets": `{"metadata":{"namespace":"shop-pr-7","name":"db"},"spec":{"replicas":3,
			"selector":{"matchLabels":{"app":"db"}},
			"persistentVolumeClaimRetentionPolicy":{"whenScaled":"Delete"},
			"volumeClaimTemplates":[{"spec":{"resources":{"requests":{"storage":"10G"}}}}],
			"template":{"metadata":{"labels":{"app":"db"}},"spec":{"containers":[{"name":"a","image":"db:16",
			"resources":{"requests":{"cpu":"2","memory":"4Gi"}}}]}}}}`,
		"cronjobs": `{"metadata":{"namespace":"shop-pr-7","name":"report"},"spec":{"suspend":true,
			"concurrencyPolicy":"Forbid","jobTemplate":{"spec":{"activeDeadlineSeconds":60}}},
			"status":{"lastScheduleTime":"2026-03-01T00:00:00Z","lastSuccessfulTime":"2026-03-01T00:01:00Z"}}`,
	} {
		var o fields
		if err := json.Unmarshal([]byte(text), &o); err != nil {
			f.Fatalf("%s: %v", resource, err)
		}
		f.Add(resource, o)
	}
}

func TestFacts_AreAllToldThatTheRulesRead(t *testing.T) {
	f := newFixture(t)
	f.Plant(morning)
	f.tellAll()
	f.Change("deployments", "shop-pr-7/web", func(o fields) { // as its controller has left it
		at(o, "status")["conditions"] = []any{
			fields{"type": "Available", "status": "False", "lastTransitionTime": "2026-03-01T00:00:00Z"},
			fields{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"},
		}
	})
	found := cloudtest.ListAll(t, f.conn, "cluster", cloudtest.KindsOf("kubernetes")...)
	cloudtest.CheckFacts(t, "kubernetes", found)
	told := map[string]any{}
	for _, r := range found {
		if at := strings.TrimPrefix(r.UID, kubernetestwin.UID+"/"); !slices.Contains([]string{
			"shop-pr-7", "shop-pr-7/deployments/web", "shop-pr-7/statefulsets/db", "shop-pr-7/cronjobs/report",
		}, at) {
			continue
		}
		for name, v := range r.Facts {
			told[r.Type+"."+name] = v
		}
	}
	for name, want := range map[string]any{
		"kubernetes-deployment.cpu_request_cores": 0.25, "kubernetes-deployment.mem_request_gib": 1.0,
		"kubernetes-deployment.containers_without_cpu_request": 1.0,
		"kubernetes-deployment.latest_tag":                     true, "kubernetes-deployment.env_secret_plain": true,
		"kubernetes-deployment.run_as_root": true,
		"kubernetes-deployment.gpu_request": 1.0, "kubernetes-deployment.no_readiness": 1.0,
		"kubernetes-deployment.gitops":        true,
		"kubernetes-deployment.spot_tolerant": true, "kubernetes-deployment.host_path": true,
		"kubernetes-deployment.progress_failed":          true,
		"kubernetes-deployment.unavailable_since":        time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		"kubernetes-statefulset.volume_gb":               10.0,
		"kubernetes-statefulset.claims_deleted_on_scale": true, "kubernetes-cronjob.deadline_set": true,
		"kubernetes-cronjob.concurrency": "Forbid",
		"kubernetes-namespace.preview":   true, "kubernetes-namespace.owner_label": "web",
		"kubernetes-namespace.pod_security": "restricted",
	} {
		if told[name] != want {
			t.Errorf("%s is told as %v; want %v", name, told[name], want)
		}
	}
}
