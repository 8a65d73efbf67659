package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
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
	page, err := os.ReadFile("../../docs/operations/organisations.md")
	if err != nil {
		t.Fatal(err)
	}
	_, walk, begun := strings.Cut(string(page), "AZURE=http://127.0.0.1:5001 GOOGLE=http://127.0.0.1:5002\n")
	walk, _, ended := strings.Cut(walk, "```")
	if !begun || !ended {
		t.Fatal("the page on organizations has no walk")
	}
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
	_, api, _ := strings.Cut(s.printed(), "API     ")
	api, _, _ = strings.Cut(api, "\n")
	tools := section(t, "```sh\nAPI=http://127.0.0.1:8080\n", "```")
	script := "API=" + api + "; TOKEN=; " + tools + "\nAZURE=" + one.URL + " GOOGLE=" + other.URL + "\n" + walk
	out, err := exec.CommandContext(t.Context(), "bash", "-eu", "-c", script).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	rest := string(out)
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
