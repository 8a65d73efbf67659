package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// TestTheWalkOnGoogleCloudWorks runs the commands of docs/operations/gcp.md against the twin that the page names.
func TestTheWalkOnGoogleCloudWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk on Google Cloud waits for a real stop")
	}
	walk := operationsWalk(t, "gcp.md", "GOOGLE=http://127.0.0.1:5002")
	cloud := &gcptwin.Cloud{}
	cloud.Fill()
	go cloud.Move(t.Context(), clock.System{}, time.Second)
	paths := http.NewServeMux()
	paths.HandleFunc("GET /key", gcptwin.ServeKey)
	paths.Handle("/", cloud)
	google, s := httptest.NewServer(paths), serveIn(t, t.TempDir())
	t.Cleanup(google.Close)
	out := s.pasteWalk(t, "GOOGLE="+google.URL, walk)
	for _, want := range []string{
		`"resourceCount":17`, `"status":"completed","total":3,"completed":3`, `"name":"cache-1","type":"gcp-compute"`,
		`"name":"forgotten","type":"gcp-disk"`,
		`"action":"compute.instances.stop","status":"granted"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nowhere in the answers: %s\n%s", want, out)
		}
	}
	s.shut(t)
}
