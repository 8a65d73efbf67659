package connector_test

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/tabletest"
)

const org = "org_1"

// sealerOf returns a sealer with a key of the test.
func sealerOf(t *testing.T) seal.Sealer {
	t.Helper()
	kek, err := seal.OpenKeyFile(filepath.Join(t.TempDir(), "kek"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewEnvelope(kek)
}

// openAccount makes a connector and a question about a simulated account with these credentials.
func openAccount(t *testing.T, credentials map[string]string) (lambdacall.Local, inventory.Question) {
	t.Helper()
	sealer := sealerOf(t)
	c := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	p := &platform.Platform{
		Table: table.Fenced(tabletest.NewAt(t, c)), Clock: c, Sealer: sealer,
		Log: slog.New(slog.DiscardHandler),
	}
	a := inventory.Account{ID: "ca_1", Provider: "simulated", AuthMethod: "simulated", CloudAccountID: "111"}
	var err error
	if a.Sealed, err = inventory.SealCredentials(t.Context(), p.Sealer, inventory.SecretPlace(org, a.ID),
		credentials); err != nil {
		t.Fatal(err)
	}
	h := connector.Handler(p, cloud.Providers{
		"simulated": simulated.New(p.Table, c),
		"aws":       aws.New(aws.Options{Clock: c, CustomEndpoints: true, PrivateAddresses: true, Attempts: 1}),
	})
	return lambdacall.Local{inventory.Connector: h}, inventory.Question{Ask: inventory.AskVerify, Org: org, Account: a}
}

func TestVerifyTellsWhatTheCredentialsOpen(t *testing.T) {
	tests := []struct {
		name        string
		credentials map[string]string
		want        inventory.Verified
	}{
		{
			"the account and its regions",
			map[string]string{"regions": "2"},
			inventory.Verified{NativeID: "111", Regions: []string{"us-east-1", "us-east-2"}},
		},
		{
			"another account",
			map[string]string{"regions": "1", "accountID": "999"},
			inventory.Verified{NativeID: "999", Regions: []string{"us-east-1"}},
		},
		{
			"regions that may not be listed",
			map[string]string{"denied": "account:ListRegions"},
			inventory.Verified{NativeID: "111"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, q := openAccount(t, tt.credentials)
			var got inventory.Verified
			err := w.Invoke(t.Context(), inventory.Connector, q, &got)
			if err != nil || got.NativeID != tt.want.NativeID || !slices.Equal(got.Regions, tt.want.Regions) ||
				(got.Regions == nil) != (tt.want.Regions == nil) {
				t.Errorf("%+v, %v; want %+v", got, err, tt.want)
			}
		})
	}
}

// pointNowhere changes the question's account to an endpoint without a server.
func pointNowhere(q *inventory.Question) {
	q.Account.Provider, q.Account.AuthMethod, q.Account.EndpointURL = "aws", "static_keys", "http://127.0.0.1:1"
}

func TestFailuresAreToldInTheCloudsWords(t *testing.T) {
	tests := []struct {
		name        string
		credentials map[string]string
		change      func(*inventory.Question)
		kind        fault.Kind
		says        string
	}{
		{
			"refused credentials",
			map[string]string{"refuse": "true"},
			nil, fault.Invalid,
			"The security token included in the request is invalid.",
		},
		{
			"credentials that make no sense",
			map[string]string{"size": "-1"},
			nil, fault.Invalid,
			`credentials.size is "-1"; it must be a whole number from 0`,
		},
		{
			"a setting that the simulated cloud does not have",
			map[string]string{"sise": "5"},
			nil, fault.Invalid,
			"credentials.sise is not a setting of the simulated cloud; its settings are accountID, ",
		},
		{
			"such a setting of an organization",
			map[string]string{"organisation": "o-1", "sise": "5"},
			func(q *inventory.Question) {
				q.Ask = inventory.AskOrganisation
			}, fault.Invalid, "credentials.sise is not a setting",
		},
		{"a provider that is not here", nil, func(q *inventory.Question) {
			q.Account.Provider = "gcp"
		}, fault.Invalid, `provider: "gcp"`},
		{
			"an endpoint of the account's where nobody answers",
			map[string]string{"accessKeyID": "A", "secretAccessKey": "b"},
			pointNowhere, fault.Invalid,
			"endpointURL: no cloud answers at http://127.0.0.1:1: connect: connection refused",
		},
		{"a question that is none", nil, func(q *inventory.Question) {
			q.Ask = "dance"
		}, fault.Internal, "internal error"},
		{"credentials sealed for another account", nil, func(q *inventory.Question) {
			q.Account.ID = "ca_2"
		}, fault.Internal, "internal error"},
		{"credentials sealed for another organization", nil, func(q *inventory.Question) {
			q.Org = "org_2"
		}, fault.Internal, "internal error"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w, q := openAccount(t, tt.credentials)
			if tt.change != nil {
				tt.change(&q)
			}
			err := w.Invoke(t.Context(), inventory.Connector, q, &inventory.Verified{})
			if !fault.Is(err, tt.kind) || !strings.Contains(fault.Message(err), tt.says) {
				t.Errorf("%v (%q); want kind %d with %q", err, fault.Message(err), tt.kind, tt.says)
			}
		})
	}
}

func TestPermissionsAreThoseOfTheCloud(t *testing.T) {
	w, q := openAccount(t, map[string]string{"denied": "ec2:StopInstances"})
	q.Ask = inventory.AskPermissions
	var got []cloud.Permission
	if err := w.Invoke(t.Context(), inventory.Connector, q, &got); err != nil {
		t.Fatal(err)
	}
	denied := slices.IndexFunc(got, func(p cloud.Permission) bool { return p.Status == "denied" })
	if denied < 0 || got[denied].Action != "ec2:StopInstances" || got[denied].Message == "" {
		t.Errorf("%+v; want ec2:StopInstances denied, with a message", got)
	}
}

func TestAnInputThatIsNoQuestionIsRefused(t *testing.T) {
	w, _ := openAccount(t, nil)
	if _, err := w[inventory.Connector](t.Context(), json.RawMessage(`[]`)); err == nil {
		t.Error("accepted")
	}
}
