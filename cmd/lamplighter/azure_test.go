package main

import (
	"net/http/httptest"
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
	walk := operationsWalk(t, "azure.md", "AZURE=http://127.0.0.1:5001")
	cloud := &azuretwin.Cloud{}
	cloud.Fill("westeurope")
	go cloud.Move(t.Context(), clock.System{}, time.Second)
	azure, s := httptest.NewServer(cloud), serveIn(t, t.TempDir())
	t.Cleanup(azure.Close)
	out := s.pasteWalk(t, "AZURE="+azure.URL, walk)
	for _, want := range []string{
		`"resourceCount":15`, `"status":"completed","total":3,"completed":3`, `"name":"cache-1","type":"azure-vm"`,
		`"action":"Microsoft.Compute/virtualMachines/deallocate/action","status":"granted"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("nowhere in the answers: %s\n%s", want, out)
		}
	}
	s.shut(t)
}
