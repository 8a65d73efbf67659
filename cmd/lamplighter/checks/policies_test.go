package checks

import (
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/shared/api/identity/grant"
)

// open lists the operations without a policy, with the reason. A new entry needs its reason why callers need no
// grant.
var open = map[string]string{
	"signUp": anonymous, "requestVerification": anonymous, "validateCode": anonymous, "forgetPassword": anonymous,
	"resetPassword": anonymous, "getPasswordPage": mailbox, "setPasswordByPage": mailbox, "logIn": anonymous,
	"refresh":     "a refresh token is its own credential",
	"beginSignIn": anonymous, "finishSignIn": anonymous, "initiateSAML": anonymous, "completeSAML": anonymous,
	"continueSAML": anonymous, "listSignInWays": anonymous,
	"getSAMLMetadata": "identity providers read it", "getSigningKeys": "whoever verifies our tokens reads them",
	"getHealth": "monitors ask it", "getDocs": published, "getInterfaceJSON": published, "getInterfaceYAML": published,
	"getStart": published, "getConsole": console, "getConsoleScreen": console, "getConsoleRecord": console,
	"getConsoleFile": console, "getConsoleScreenFile": console,

	"receiveGitHub": signed, "receiveGitLab": signed, "receiveBuild": "no build is known yet",

	"getWakePage": linked, "wake": linked, "getUnsubscribePage": mailed, "unsubscribe": mailed,
	"returnFromGoogle": "it shows a browser what Google sent with it, and keeps nothing",

	"logOut": oneself, "getOwnProfile": oneself, "updateOwnProfile": oneself, "leaveOrganisation": oneself,
	"listSessions": oneself, "endSession": oneself, "changePassword": oneself, "deleteAccount": oneself,
	"listPermissions": oneself, "listInvitations": oneself, "acceptInvitation": oneself,
	"declineInvitation":        oneself,
	"listPersonalAccessTokens": oneself, "createPersonalAccessToken": oneself, "revokePersonalAccessToken": oneself,
	"beginPasskeyLogIn": anonymous, "confirmPasskeyLogIn": anonymous,
	"getSecondFactors": oneself, "beginTOTP": oneself, "confirmTOTP": oneself, "removeTOTP": oneself,
	"beginPasskey": oneself, "confirmPasskey": oneself, "removePasskey": oneself,
	"listOrganisations": oneself, "createOrganisation": "who belongs to none makes one",
	"listPolicies": "the catalogue is the same for everybody",

	"reportEventPlanStatus": "the executor alone may, by its own identity, and nobody else ever",
}

const (
	signed    = "a service signs what it sends with the secret of its integration"
	mailed    = "whoever has the link in a mail may end such mails"
	mailbox   = "whoever has the link in a mail owns the mailbox"
	linked    = "whoever has the secret of a wake link may use it"
	anonymous = "it is how somebody becomes known"
	console   = "the page signs in by itself, and its files have no data"
	published = "the interface is no secret"
	oneself   = "it is about the caller alone"
)

// waiting lists the resources whose policies no operation uses yet, with the planned part of the service.
var waiting = map[string]string{
	"spaces": "Deployment Spaces", "provisioning": "Provisioning", "projects": "Projects & Environments",
	"deployments": "Deployments", "builds": "Builds",
}

// Default deny: an operation requires a policy of the catalogue, or is in the short list of operations that need
// none.
func TestEveryOperationNamesAPolicyOrSaysWhyNot(t *testing.T) {
	seen := map[string]bool{}
	for _, op := range probe.DeclaredOperations() {
		seen[op.ID] = true
		if op.Policy == "" && open[op.ID] == "" {
			t.Errorf("%s (public: %v) names no policy: name one, or say in open why it needs none", op.ID, op.Public)
		}
		if op.Policy != "" && (open[op.ID] != "" || !grant.IsPolicy(op.Policy)) {
			t.Errorf("%s names %s, which is no policy, or is among those that need none", op.ID, op.Policy)
		}
	}
	for id := range open {
		if !seen[id] {
			t.Errorf("there is no operation %s", id)
		}
	}
}

func TestEveryPolicyIsOfUse(t *testing.T) {
	used, late := map[string]bool{}, map[string]bool{}
	for _, op := range probe.DeclaredOperations() {
		used[op.Policy] = true
	}
	for _, p := range grant.Policies() {
		resource, _, _ := strings.Cut(p.ID, ":")
		if used[p.ID] {
			continue
		}
		late[resource] = true
		t.Logf("%s waits for %s", p.ID, waiting[resource])
		if waiting[resource] == "" {
			t.Errorf("no operation names %s: say in waiting what it waits for", p.ID)
		}
	}
	for resource, why := range waiting {
		if !late[resource] {
			t.Errorf("%s waits for %s, and all of its policies are used", resource, why)
		}
	}
}
