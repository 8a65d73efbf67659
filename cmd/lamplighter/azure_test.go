package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/azuretwin"
)

// TestTheWalkOnAzureWorks runs the commands of docs/operations/azure.md against the twin that the page names.
func TestTheWalkOnAzureWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk on Azure waits for a real stop")
	}
	page, err := os.ReadFile("../../docs/operations/azure.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walk, begun := strings.Cut(string(page), "AZURE=http://127.0.0.1:5001\n")
	walk, _, ended := strings.Cut(walk, "```")
	if !begun || !ended {
		t.Fatal("the page on Azure has no walk")
	}
	cloud := &azuretwin.Cloud{}
	cloud.Fill("westeurope")
	go cloud.Move(t.Context(), clock.System{}, time.Second)
	azure, s := httptest.NewServer(cloud), serveIn(t, t.TempDir())
	t.Cleanup(azure.Close)
	_, api, _ := strings.Cut(s.printed(), "API     ")
	api, _, _ = strings.Cut(api, "\n")
	tools := section(t, "```sh\nAPI=http://127.0.0.1:8080\n", "```")
	script := "API=" + api + "; TOKEN=; " + tools + "\nAZURE=" + azure.URL + "\n" + walk
	out, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		`"resourceCount":15`, `"status":"completed","total":3,"completed":3`, `"name":"cache-1","type":"azure-vm"`,
		`"action":"Microsoft.Compute/virtualMachines/deallocate/action","status":"granted"`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("nowhere in the answers: %s\n%s", want, out)
		}
	}
	s.shut(t)
}
