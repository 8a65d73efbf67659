package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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
	page, err := os.ReadFile("../../docs/operations/gcp.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walk, begun := strings.Cut(string(page), "GOOGLE=http://127.0.0.1:5002\n")
	walk, _, ended := strings.Cut(walk, "```")
	if !begun || !ended {
		t.Fatal("the page on Google Cloud has no walk")
	}
	cloud := &gcptwin.Cloud{}
	cloud.Fill()
	go cloud.Move(t.Context(), clock.System{}, time.Second)
	paths := http.NewServeMux()
	paths.HandleFunc("GET /key", gcptwin.ServeKey)
	paths.Handle("/", cloud)
	google, s := httptest.NewServer(paths), serveIn(t, t.TempDir())
	t.Cleanup(google.Close)
	_, api, _ := strings.Cut(s.printed(), "API     ")
	api, _, _ = strings.Cut(api, "\n")
	tools := section(t, "```sh\nAPI=http://127.0.0.1:8080\n", "```")
	script := "API=" + api + "; TOKEN=; " + tools + "\nGOOGLE=" + google.URL + "\n" + walk
	out, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`"resourceCount":17`, `"status":"completed","total":3,"completed":3`, `"name":"cache-1","type":"gcp-compute"`,
		`"name":"forgotten","type":"gcp-disk"`,
		`"action":"compute.instances.stop","status":"granted"`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nowhere in the answers: %s\n%s", want, out)
		}
	}
	s.shut(t)
}
