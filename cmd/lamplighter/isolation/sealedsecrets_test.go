package isolation

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/functions"
	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/notification"
	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/engine/mail"
)

// sealedKinds maps each kind of sealed secret of organizations to the operations that change its destination.
var sealedKinds = map[string][]string{
	inventory.AccountSecret:    {"updateCloudAccount", "updateCloudOrganisation"},
	inventory.ClusterSecret:    {"registerCluster"},
	notification.Secret:        {"updateChannel", "updateLegacyNotification"},
	receiver.WebhookSecret:     {"updateWebhook"},
	receiver.IntegrationSecret: {"updateIntegration"},
}

// secretMember is a member of the body of an operation of a function that seals secrets: either the secret stays where
// it is and the member may be sent alone, with the reason, or the change alone is refused in words that hold says.
type secretMember struct{ stays, change, says string }

const noDestination = "it is no part of where anything is sent"

// secretMembers has each member of each PUT and PATCH of the functions that seal secrets.
var secretMembers = map[string]secretMember{
	"updateCloudAccount authMethod": {change: `{"authMethod":"static_keys"}`, says: "credentials: are required"},
	"updateCloudAccount endpointURL": {
		change: `{"endpointURL":"https://thief.example.com"}`,
		says:   "stored credentials are not sent",
	},
	"updateCloudAccount credentials": {stays: "they replace all that are stored"},
	"updateCloudAccount billing": {stays: "names of buckets, datasets and storage accounts, which are " +
		"reached at the hosts of the cloud or at endpointURL"},
	"updateCloudAccount cloudAccountID":  {stays: "another value than the account's own is refused"},
	"updateCloudAccount provider":        {stays: "another value than the account's own is refused"},
	"updateCloudAccount name":            {stays: noDestination},
	"updateCloudAccount environment":     {stays: noDestination},
	"updateCloudAccount permissionLevel": {stays: noDestination},
	"updateCloudAccount regions":         {stays: "regions of the provider, whose hosts are the cloud's"},

	"registerCluster method":     {change: `{"method":"kubeconfig"}`, says: "kubeconfig: is required"},
	"registerCluster kubeconfig": {stays: "it replaces the stored one with its server"},

	"updateCloudOrganisation authMethod": {
		change: `{"authMethod":"static_keys"}`,
		says:   "credentials: are required",
	},
	"updateCloudOrganisation credentials":     {stays: "they replace all that are stored"},
	"updateCloudOrganisation exclude":         {stays: noDestination},
	"updateCloudOrganisation include":         {stays: noDestination},
	"updateCloudOrganisation name":            {stays: noDestination},
	"updateCloudOrganisation permissionLevel": {stays: noDestination},
	"updateCloudOrganisation regions":         {stays: "regions of the provider, whose hosts are the cloud's"},

	"updateIntegration config": {
		change: `{"config":{"baseURL":"https://thief.example.com"}}`,
		says:   "config.baseURL",
	},
	"updateIntegration enabled":             {stays: noDestination},
	"updateIntegration eventTypes":          {stays: noDestination},
	"updateIntegration name":                {stays: noDestination},
	"updateIntegration rotateWebhookSecret": {stays: "it makes another secret, which the answer shows"},
	"updateIntegration scopeID":             {stays: noDestination},
	"updateIntegration scopeType":           {stays: noDestination},

	// it is the secret, and replaced as a whole
	"updateChannel config": {change: `{"config":{}}`, says: "config.email"},
	"updateChannel name":   {stays: noDestination},

	"setEmailPreference enabled": {stays: noDestination},

	"updateSubscription channelID": {stays: "the address of a channel is never sent to another channel"},
	"updateSubscription enabled":   {stays: noDestination},
	"updateSubscription eventType": {stays: noDestination},
	"updateSubscription scopeID":   {stays: noDestination},
	"updateSubscription scopeType": {stays: noDestination},

	"updateLegacyNotification channel":          {change: `{"channel":"slack"}`, says: "webhookURL"},
	"updateLegacyNotification webhookURL":       {stays: "it is the secret itself"},
	"updateLegacyNotification notifyOnFailure":  {stays: noDestination},
	"updateLegacyNotification notifyOnOverride": {stays: noDestination},
	"updateLegacyNotification notifyOnStart":    {stays: noDestination},
	"updateLegacyNotification notifyOnStop":     {stays: noDestination},

	"updateWebhook url": {
		stays: "it is a secret itself, and replaced as a whole; the signing key is never sent",
	},
	"updateWebhook enabled":    {stays: noDestination},
	"updateWebhook eventTypes": {stays: noDestination},
	"updateWebhook name":       {stays: noDestination},
	"updateWebhook scopeID":    {stays: noDestination},
	"updateWebhook scopeType":  {stays: noDestination},
}

// TestSealedSecrets_EachKindNamesTheOperationsThatCouldSendItElsewhere finds the kinds of secrets by the declarations
// of the functions that seal them.
func TestSealedSecrets_EachKindNamesTheOperationsThatCouldSendItElsewhere(t *testing.T) {
	declared := map[string]bool{}
	for _, f := range functions.All() {
		for _, kind := range f.Seals {
			// a mail is sent to the address that is sealed with it, the secret of an app nowhere
			declared[kind] = kind != mail.Secret && kind != secondfactor.Secret
		}
	}
	for kind, wanted := range declared {
		if wanted && sealedKinds[kind] == nil {
			t.Errorf("secrets of kind %q are sealed: add the operations that change where they are sent to sealedKinds",
				kind)
		}
	}
	updates := updatesBesideSecrets()
	for kind, ops := range sealedKinds {
		for _, id := range ops {
			if !declared[kind] || !updates[id] {
				t.Errorf("%s of kind %q is no PUT or PATCH of a function that seals that kind", id, kind)
			}
		}
	}
}

// updatesBesideSecrets returns the PUT and PATCH operations of the functions that seal secrets of organizations.
func updatesBesideSecrets() map[string]bool {
	out := map[string]bool{}
	for _, f := range functions.All() {
		if !slices.ContainsFunc(f.Seals, func(kind string) bool {
			return kind != mail.Secret && kind != secondfactor.Secret
		}) {
			continue
		}
		for _, group := range f.Groups {
			for _, op := range group(&platform.Platform{}).Ops() {
				if op.Method == http.MethodPut || op.Method == http.MethodPatch {
					out[op.ID] = true
				}
			}
		}
	}
	return out
}

// TestSealedSecrets_AChangeOfWhereTheyAreSentNeedsThemAgain sends each member that changes a destination without the
// secret beside it. The members come from the interface description: a new one must say whether it changes where a
// stored secret is sent.
func TestSealedSecrets_AChangeOfWhereTheyAreSentNeedsThemAgain(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	me := s.NewCaller(t, s.NewOwner("keeper@example.com"))
	v := &sweep{t: t, mine: me, theirs: me, b: me.Settle(t, "victim-1")}
	v.ops = probe.Operations(v.t, functions.Describe(s.Platform).YAML())
	updates, left := updatesBesideSecrets(), maps.Clone(secretMembers)
	for _, op := range v.ops {
		if body := probe.BodySchema(op); updates[op.OperationID] && body != nil {
			for _, name := range slices.Sorted(maps.Keys(body.Properties)) {
				m, known := secretMembers[op.OperationID+" "+name]
				if delete(left, op.OperationID+" "+name); !known || m.stays == "" && m.change == "" {
					t.Errorf("%s takes %s: say in secretMembers whether it changes where a stored secret is sent",
						op.OperationID, name)
				}
				if m.change != "" {
					v.refuseAlone(op, m)
				}
			}
		}
	}
	for name := range left {
		t.Errorf("secretMembers has %q, which no operation takes", name)
	}
}

// refuseAlone sends a change without the secret that it would send elsewhere.
func (w *sweep) refuseAlone(op probe.Operation, m secretMember) {
	w.t.Helper()
	path := op.Path
	for _, p := range op.Parameters {
		if p.Value.In == "path" {
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", url.PathEscape(w.b.Value(op, p.Value.Name)))
		}
	}
	answer := w.mine.Ask(w.t, op.Method, path, m.change)
	if answer.Code != http.StatusBadRequest || !strings.Contains(answer.Body.String(), m.says) {
		w.t.Errorf("%s %s: %d %s, want 400 that says %q", op.OperationID, m.change, answer.Code, answer.Body, m.says)
	}
}
