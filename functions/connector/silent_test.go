package connector_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// silentCloud is a cloud behind an address that does not answer: calls end when their context does.
type silentCloud struct{ cloud.Conn }

func (silentCloud) Name() string        { return "silent" }
func (silentCloud) Kinds() []cloud.Kind { return nil }

func (c silentCloud) Connect(context.Context, cloud.Account) (cloud.Conn, error) { return c, nil }

func (silentCloud) Identify(ctx context.Context) (string, error) {
	<-ctx.Done()
	return "", &cloud.Error{Class: cloud.Transient, Op: "Identify", Message: "no answer", Err: ctx.Err()}
}

func (c silentCloud) Organisation(ctx context.Context) (string, error) { return c.Identify(ctx) }

func (silentCloud) Members(context.Context, bool) ([]cloud.Member, error) { return nil, nil }

// A client waits 5 seconds at most for an address that does not answer. A cloud's own address has more time.
func TestVerify_RefusesAnAddressThatDoesNotAnswerWithinFiveSeconds(t *testing.T) {
	const endpoint = "https://cloud.example.com"
	for _, tt := range []struct {
		name, provider, endpoint, ask string
		kind                          fault.Kind
		says                          string
		least, most                   time.Duration
	}{
		{"an endpoint", "aws", endpoint, inventory.AskVerify, fault.Invalid, "endpointURL: " + endpoint, 3, 5},
		{
			"an endpoint of an organization", "aws", endpoint, inventory.AskOrganisation, fault.Invalid,
			"endpointURL: " + endpoint, 3, 5,
		},
		{"a cluster", "kubernetes", "", inventory.AskVerify, fault.Invalid, "credentials.kubeconfig", 3, 5},
		{"a cloud", "aws", "", inventory.AskVerify, fault.Unavailable, "did not answer", 10, 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			sealer := sealerOf(t)
			a := inventory.Account{ID: "ca_1", Provider: tt.provider, CloudAccountID: "111", EndpointURL: tt.endpoint}
			var err error
			if a.Sealed, err = inventory.SealCredentials(t.Context(), sealer, inventory.SecretPlace(org, a.ID),
				map[string]string{}); err != nil {
				t.Fatal(err)
			}
			h := connector.Handler(&platform.Platform{Sealer: sealer}, cloud.Providers{tt.provider: silentCloud{}})
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				err := inventory.AskConnector(t.Context(), lambdacall.Local{inventory.Connector: h},
					inventory.Question{Ask: tt.ask, Org: org, Account: a}, &inventory.Verified{})
				took := time.Since(began)
				if !fault.Is(err, tt.kind) || !strings.Contains(fault.Message(err), tt.says) {
					t.Errorf("%v; want kind %v with %q", err, tt.kind, tt.says)
				}
				if took < tt.least*time.Second || took > tt.most*time.Second {
					t.Errorf("it took %s; want %s", took, fmt.Sprint(tt.least, " to ", tt.most, " s"))
				}
			})
		})
	}
}
