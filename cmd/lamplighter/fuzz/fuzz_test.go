// Package fuzz sends random requests to each operation of the whole service.
package fuzz

import (
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/resttest"
)

// TestFuzz sends malformed input to every operation of the whole service, behind the real gateway and authorizer, as
// the owner of an organization with records. Each operation must succeed at least once, or the fuzzer would test only
// refusals.
func TestFuzz(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	c := s.NewCaller(t, s.NewOwner("fuzz@example.com"))
	e := c.Settle(t, "fuzzed-1")
	refused, record, again := succeeds(t, s), newLedger(s), false
	var limited atomic.Int64
	var o resttest.Options
	before := auditRows(t, s, c.Org)
	values := probe.KnownValues(e)
	// the unit metric, the only record with a name in its path; not where the name could become the organization's
	values["name"] = []string{e["metric"]}
	values["version"] = append(values["version"], consoleVersion(t, c))
	values["file"] = []string{"overview.js", "lamp.svg"}
	o = resttest.Options{
		Requests: 100, Seed: 7, Known: values, Before: c.Signed(t),
		Fixed: map[string]any{"requireMFA": false}, // the session has no second factor
		Seen: func(id string, answer *httptest.ResponseRecorder) {
			record.saw(id, answer)
			if scarce[id] && answer.Code == http.StatusTooManyRequests {
				limited.Add(1)
			}
			if answer.Code/100 == 2 {
				delete(refused, id)
			}
		},
		Skip: func(id string) bool {
			if again && !refused[id] {
				return true
			}
			s.WaitSettled() // running work would refuse the next operation
			if r, ok := restored(e)[id]; ok {
				record.saw(r.operation, c.Ask(t, http.MethodPut, r.path, r.body))
			}
			if u, ok := unused(o.Seed)[id]; ok {
				made := c.Ask(t, http.MethodPost, u.path, u.body)
				record.saw(u.operation, made)
				values[u.name] = append(values[u.name], regexp.MustCompile(u.id).FindString(made.Body.String()))
				s.WaitSettled()
			}
			return false
		},
	}
	if race.Enabled || testing.Short() {
		o.Requests = 6 // enough to find a race; too few to get through everywhere
	}
	// with the race detector on a busy machine, writing the description takes longer than the gateway waits
	for n := 0; n < 5 && c.Ask(t, http.MethodGet, "/openapi.yaml", "").Code != http.StatusOK; n++ {
		t.Log("the description is not written yet")
	}
	began := time.Now()
	seen := resttest.FuzzOperations(t, s, functions.Describe(s.Platform).YAML(), o)
	// some operations need a hundred or two hundred attempts
	for again = true; o.Requests == 100 && len(refused) > 0 && len(refused) < 6 && o.Seed < 10; {
		o.Seed++
		for status, n := range resttest.FuzzOperations(t, s, functions.Describe(s.Platform).YAML(), o) {
			seen[status] += n
		}
	}
	t.Logf("%v in %s", seen, time.Since(began))
	if seen[http.StatusTooManyRequests] > int(limited.Load()) || seen[http.StatusUnauthorized] > sum(seen)/10 {
		t.Errorf("the door kept the fuzzer out: %v", seen)
	}
	record.agree(t, before, auditRows(t, s, append(record.made, c.Org)...))
	if len(refused) > 0 && o.Requests == 100 {
		t.Errorf("these were only ever refused: %v", slices.Sorted(maps.Keys(refused)))
	}
}

// consoleVersion returns the version of the files of the console, from its page.
func consoleVersion(t *testing.T, c *probe.Caller) string {
	t.Helper()
	page := c.Ask(t, http.MethodGet, "/console", "").Body.String()
	found := regexp.MustCompile(`console/v/(\w+)/`).FindStringSubmatch(page)
	if found == nil {
		t.Fatalf("the page of the console loads no file: %.300s", page)
	}
	return found[1]
}

// scarce lists the public operations with a low limit of requests per address and minute.
var scarce = map[string]bool{
	"wake": true, "getWakePage": true, "receiveGitHub": true, "receiveGitLab": true, "receiveBuild": true,
	"unsubscribe": true, "getUnsubscribePage": true,
}

// restored maps an operation to the change that is made before it, so that the operation can succeed. Without that
// change the operation may always fail, because of the last change of the fuzzer.
func restored(e probe.Values) map[string]struct{ operation, path, body string } {
	group, team := "/resource-groups/"+e["groupID"], "/teams/"+e["teamID"]
	return map[string]struct{ operation, path, body string }{
		// the fuzzer cannot guess the name
		"deleteOrganisation": {"updateOrganisation", "/organisation", `{"name":"` + rand.Text() + `"}`},
		"addGroupResource":   {"updateResourceGroup", group, `{"selector":null,"members":[]}`},
		"removeGroupResource": {
			"updateResourceGroup", group,
			`{"selector":null,"members":[{"resourceID":"` + e["resourceID"] + `"}]}`,
		},
		"removeTeamResource": {"updateTeam", team, `{"resources":["` + e["resourceID"] + `"]}`},
	}
}

// unused returns new, unreferenced records for each round, by the operation that deletes them: by then the records
// that the fuzzer knows are in use. Name is the parameter of the record's id, and id is the pattern of such an id.
func unused(round uint64) map[string]struct{ operation, path, body, name, id string } {
	number := fmt.Sprintf("9000000000%02d", round)
	return map[string]struct{ operation, path, body, name, id string }{
		"deleteResourceGroup": {
			"createResourceGroup", "/resource-groups", `{"name":"Unused ` + number + `"}`,
			"groupID", `grp_\w+`,
		},
		"deleteCloudAccount": {
			"connectCloudAccount", "/cloud-accounts",
			`{"provider":"simulated","authMethod":"simulated","cloudAccountID":"` + number + `","name":"Unused ` +
				number + `",` +
				`"permissionLevel":"read_only","credentials":{"size":"0"}}`, "accountID", `ca_\w+`,
		},
	}
}

func sum(seen map[int]int) int {
	n := 0
	for v := range maps.Values(seen) {
		n += v
	}
	return n
}

// succeeds returns the operations that must succeed for a fuzzer with probe.Values: all except those that need a
// fresh code, password or token, or an identity provider.
func succeeds(t *testing.T, s *probe.Service) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	for _, ops := range local.Operations(s.Platform) {
		for i := range ops {
			out[ops[i].ID] = true
		}
	}
	for _, id := range []string{
		"logIn", "refresh", "validateCode", "resetPassword", "getPasswordPage", "setPasswordByPage",
		// need the present password or address, a code of an app or an answer of an authenticator, and a second factor
		"changePassword", "deleteAccount", "confirmTOTP", "removeTOTP",
		"confirmPasskey", "confirmPasskeyLogIn", "removePasskey",
		"beginTOTP", "beginPasskey", // need a log-in of the last hour
		"cancelAction", "cancelBulkAction", "listClusters", "registerCluster", "deregisterCluster",
		"beginSignIn", "finishSignIn", "initiateSAML", "completeSAML", "continueSAML", "getSAMLSettings",
		"setSAMLSettings",
		"deleteSAMLSettings",
		"exchangeGoogleCode", "finalizeGoogleConnection", // needs a fresh code
		// some of their optional members are required in combination
		"connectCloudAccount", "connectCloudOrganisation", "createCalendar",
		// its configuration depends on its kind
		"createIntegration",
		// their scope, or address, depends on the type
		"createSubscription", "upsertSubscriptions", "createLegacyNotification",
		"createAutoscalerPolicy", "updateAutoscalerPolicy", "createEventPlan", // sizes, or times, have to agree
		"updateEventPlan", "previewEventCost", "previewReadiness", // as above
		// need a failed or ended plan; for databases alone
		"retryEventPlan", "resetEventPlan", "calculateDatabaseClass",
		"applyAutoscalerPolicy", "resumeAutoscalerPolicy", // needs a paused policy, or one that may be applied
		// conditions in CEL with fixtures; members of own rules or of overrides; a plan of the rules in force
		"createRecommendationRule", "updateRecommendationRule", "applyRecommendationRulePlan",
		// need an open recommendation that can be carried out, another person, and a workflow that is not decided
		"remediateRecommendation", "proposeRemediation", "approveRemediation", "rejectRemediation", "cancelRemediation",
		"rollBackRemediation", "rehearseRemediation",
		"redeliverWebhook",                                           // needs an ended delivery
		"updateRecommendation",                                       // its members depend on its status
		"getUnsubscribePage", "unsubscribe", "reportEventPlanStatus", // needs a signed link; for the executor only
		"receiveGitHub", "receiveGitLab", "receiveBuild", // signed requests; no builds exist yet
		"deleteOverride", "wake", // an ended override; few wakes per address
		"deleteCalendar",                          // used by schedules of earlier requests
		"deleteTeam",                              // has a budget
		"leaveOrganisation", "deleteOrganisation", // the only owner; needs the random name
		"acceptInvitation", "declineInvitation", // an invitation is answered once
		"deleteAssignment", "removeTeamMember", // the user was removed before
	} {
		if !out[id] {
			t.Errorf("there is no operation %s any more", id)
		}
		delete(out, id)
	}
	return out
}
