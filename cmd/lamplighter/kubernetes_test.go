package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// TestTheWalkOnKubernetesWorks runs the commands of docs/operations/kubernetes.md against the twins that the page
// names.
func TestTheWalkOnKubernetesWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk on Kubernetes waits for a real stop")
	}
	walk := operationsWalk(t, "kubernetes.md", "TWIN=http://127.0.0.1:5003")
	twins, s := serveTwins(t), serveIn(t, t.TempDir())
	out := s.pasteWalk(t, "TWIN="+twins, walk)
	for _, want := range []string{
		`"provider":"kubernetes","externalID":null`, `"action":"patch deployments.apps","status":"granted"`,
		`"name":"agent","type":"kubernetes-daemonset"`, `"status":"succeeded"`,
		`"status":"stopped","step":"scaledobjects"`,
		`"name":"prod","region":"eu-west-1","provider":"aws","status":"active"`,
		`"access":"cloud_iam","registered":true,"accessCheck":{"status":"granted"`,
		`8b2f0c51-0000-4000-8000-00000000e4c5/shop/deployments/web`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nowhere in the answers: %s\n%s", want, out)
		}
	}
	s.shut(t)
}

// serveTwins starts the same twins as shared/testkit/clouds/kubernetestwin/serve, and returns their address.
func serveTwins(t *testing.T) string {
	t.Helper()
	own, prod, aws := kubernetestwin.New(), kubernetestwin.New(), &awstwin.Cloud{}
	prod.ChangeUID("8b2f0c51-0000-4000-8000-00000000e4c5")
	prod.Accept = awstwin.OpensClusters
	aws.AddCluster(awstwin.Cluster{
		Name: "prod", Region: "eu-west-1", Endpoint: prod.URL(),
		Authority: prod.Authority(),
	})
	for _, c := range []*kubernetestwin.Cluster{own, prod} {
		c.Fill()
		go c.Move(t.Context(), clock.System{}, time.Second)
		t.Cleanup(c.Close)
	}
	paths := http.NewServeMux()
	paths.HandleFunc("GET /kubeconfig", own.ServeKubeconfig)
	paths.Handle("/", aws)
	s := httptest.NewServer(paths)
	t.Cleanup(s.Close)
	return s.URL
}
