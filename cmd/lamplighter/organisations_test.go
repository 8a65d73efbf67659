package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/clouds/azuretwin"
	"lamplighter.dev/shared/testkit/clouds/gcptwin"
)

// TestTheWalkThroughOrganizationsWorks runs the commands of docs/operations/organisations.md against the twins that
// the page names and the simulated cloud.
func TestTheWalkThroughOrganizationsWorks(t *testing.T) {
	t.Parallel()
	needShell(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: the walk through organizations waits for synchronizations")
	}
	walk := operationsWalk(t, "organisations.md", "AZURE=http://127.0.0.1:5001 GOOGLE=http://127.0.0.1:5002")
	azure, google := &azuretwin.Cloud{Page: 2}, &gcptwin.Cloud{Page: 2}
	azure.Fill("westeurope")
	azure.FillOrganisation()
	google.Fill()
	google.FillOrganisation()
	paths := http.NewServeMux()
	paths.HandleFunc("GET /key", gcptwin.ServeKey)
	paths.Handle("/", google)
	one, other, s := httptest.NewServer(azure), httptest.NewServer(paths), serveIn(t, t.TempDir())
	t.Cleanup(one.Close)
	t.Cleanup(other.Close)
	out := s.pasteWalk(t, "AZURE="+one.URL+" GOOGLE="+other.URL, walk)
	rest := out
	for _, want := range []string{ // in this order
		"az role assignment create --assignee APP_ID --role 'Lamplighter organisation' --scope " +
			"/providers/Microsoft.Management/managementGroups/MANAGEMENT_GROUP",
		"gcloud organizations add-iam-policy-binding ORGANIZATION",
		`"members":{"closed":1,"connected":3,"duplicate":0,"excluded":0,"left":0,"refused":1,"removed":0}`,
		"does not have authorization to perform action 'Microsoft.Resources/subscriptions/read'",
		`"nativeID":"acme-last-year","name":"Last year","unit":"acme.example/Sandbox","status":"closed"`,
		`"nativeID":"acme-playground","name":"Playground","unit":"acme.example/Sandbox","status":"excluded"`,
		`"nativeID":"acme-shop","name":"Shop","unit":"acme.example/Production/Shop","status":"connected"`,
		`"nativeID":"acme-vault","name":"Vault","unit":"acme.example/Production","status":"refused"`,
		`"members":{"closed":1,"connected":4,"duplicate":0,"excluded":0,"left":0,"refused":1,"removed":0}`,
		`"total":3`, `"status":"disconnected","error":"the organization's include and exclude leave it out"`,
		`"total":1`,
		`"members":{"closed":1,"connected":3,`, `"keptAccounts":3`, `"total":3`,
	} {
		at := strings.Index(rest, want)
		if at < 0 {
			t.Fatalf("not in the answers, after what came before it: %s\n%s", want, out)
		}
		rest = rest[at:]
	}
	s.shut(t)
}
