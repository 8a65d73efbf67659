package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// The size of the cluster of BenchmarkList_ClusterOf10000Pods.
const (
	benchPods, benchPage, benchNodes, benchWorkloads = 10_000, 250, 200, 500
)

// benchPod returns a pod of 5 kB, as a cluster returns it.
func benchPod(n int) fields {
	name := fmt.Sprintf("app-%d", n%benchWorkloads)
	managed := fields{}
	for i := range 60 {
		managed[fmt.Sprintf(`f:field-%d`, i)] = fields{".": fields{}, "f:name": fields{}}
	}
	status := fields{
		"name": "main", "ready": true, "restartCount": n % 3, "state": fields{"running": fields{}},
		"image": "registry.example.com/team/" + name + ":1.2.3",
	}
	if n%100 == 0 {
		status["lastState"] = fields{"terminated": fields{"reason": "OOMKilled", "finishedAt": "2026-03-01T00:00:00Z"}}
	}
	return fields{
		"metadata": fields{
			"namespace": fmt.Sprintf("ns-%d", n%50), "name": fmt.Sprintf("%s-7d9f-%d", name, n), "uid": strconv.Itoa(n),
			"labels":            fields{"app": name, "pod-template-hash": "7d9f", "team": "shop", "version": "1.2.3"},
			"annotations":       fields{"checksum/config": strings.Repeat("0f", 32), "prometheus.io/scrape": "true"},
			"ownerReferences":   []any{fields{"kind": "ReplicaSet", "name": name + "-7d9f", "controller": true}},
			"creationTimestamp": "2026-02-01T00:00:00Z",
			"managedFields":     []any{fields{"manager": "kubelet", "operation": "Update", "fieldsV1": managed}},
		},
		"spec": fields{
			"nodeName": fmt.Sprintf("node-%d", n%benchNodes),
			"volumes":  []any{fields{"name": "tmp", "emptyDir": fields{}}},
			"containers": []any{fields{
				"name": "main", "image": "registry.example.com/team/" + name + ":1.2.3",
				"env":       []any{fields{"name": "A", "value": "b"}, fields{"name": "C", "value": "d"}},
				"resources": fields{"requests": fields{"cpu": "250m", "memory": "256Mi"}},
			}},
		},
		"status": fields{
			"phase": "Running", "podIP": "10.0.0.1", "containerStatuses": []any{status},
			"conditions": []any{fields{"type": "Ready", "status": "True"}},
		},
	}
}

// benchPages returns the pages of a listing of the pods, encoded.
func benchPages(b *testing.B) [][]byte {
	b.Helper()
	var out [][]byte
	for from := 0; from < benchPods; from += benchPage {
		items := make([]fields, benchPage)
		for i := range items {
			items[i] = benchPod(from + i)
		}
		next := ""
		if from+benchPage < benchPods {
			next = strconv.Itoa(len(out) + 1)
		}
		page, err := json.Marshal(fields{"kind": "PodList", "metadata": fields{"continue": next}, "items": items})
		if err != nil {
			b.Fatal(err)
		}
		out = append(out, page)
	}
	return out
}

// benchCluster fills a twin with the other objects of the cluster.
func benchCluster() *kubernetestwin.Cluster {
	c := kubernetestwin.New()
	for i := range benchNodes {
		c.Add("nodes", fields{
			"metadata": fields{"name": fmt.Sprintf("node-%d", i)},
			"status":   fields{"capacity": fields{"cpu": "16", "memory": "64Gi"}},
		})
	}
	for i := range benchWorkloads {
		ns, name := fmt.Sprintf("ns-%d", i%50), fmt.Sprintf("app-%d", i)
		c.Add("deployments", kubernetestwin.Named(ns, name, benchPods/benchWorkloads))
		meta := func() fields { return fields{"namespace": ns, "name": name} }
		c.Add("services", fields{"metadata": meta(), "spec": fields{"selector": fields{"app": name}}})
		c.Add("persistentvolumeclaims", fields{"metadata": meta(), "status": fields{"phase": "Bound"}})
	}
	for i := range 50 {
		c.Add("namespaces", fields{"metadata": fields{"name": fmt.Sprintf("ns-%d", i)}})
	}
	return c
}

// BenchmarkList_ClusterOf10000Pods lists all kinds over a new connection, as a discovery does.
func BenchmarkList_ClusterOf10000Pods(b *testing.B) {
	pages, twin := benchPages(b), benchCluster()
	defer twin.Close()
	var calls, podCalls atomic.Int64
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		if r.URL.Path != "/api/v1/pods" {
			twin.ServeHTTP(w, r)
			return
		}
		podCalls.Add(1)
		n, _ := strconv.Atoi(r.URL.Query().Get("continue"))
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(pages[n])
	}))
	defer server.Close()
	p := kubernetes.New(kubernetes.Options{Clock: hasty{clock.NewManual(morning)}, PrivateAddresses: true})
	a := cloud.Account{Provider: "kubernetes", AuthMethod: "kubeconfig", Credentials: map[string]string{
		"kubeconfig": strings.ReplaceAll(twin.Kubeconfig(kubernetestwin.Token), twin.URL(), server.URL),
	}}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		listEverything(b, p, a)
	}
	b.ReportMetric(float64(calls.Load())/float64(b.N), "calls/op")
	b.ReportMetric(float64(podCalls.Load())/float64(b.N), "pod-calls/op")
}

// listEverything lists all kinds side by side.
func listEverything(b *testing.B, p *kubernetes.Provider, a cloud.Account) {
	b.Helper()
	conn, err := p.Connect(b.Context(), a)
	if err != nil {
		b.Fatal(err)
	}
	kinds := p.Kinds()
	errs := make([]error, len(kinds))
	cloud.InParallel(len(kinds), len(kinds), func(i int) {
		for page, first := "", true; errs[i] == nil && (first || page != ""); first = false {
			var got cloud.ResourcePage
			got, errs[i] = conn.List(b.Context(), kinds[i].Type, "cluster", page)
			page = got.Next
		}
	})
	for _, err := range errs {
		if err != nil {
			b.Fatal(err)
		}
	}
}
