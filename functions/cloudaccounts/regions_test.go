package cloudaccounts_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/foundation/fault"
)

// noCalls fails the test when the connector is asked, as it is before any call to a cloud.
func noCalls(t *testing.T) func(*platform.Platform) {
	t.Helper()
	return func(p *platform.Platform) {
		p.Workers = lambdacall.Local{inventory.Connector: func(context.Context, json.RawMessage) (any, error) {
			t.Error("the connector was asked")
			return nil, fault.New(fault.Invalid, "the connector was asked")
		}}
	}
}

func TestConnect_RefusesAnUnknownRegionBeforeAnyCall(t *testing.T) {
	s := newFixture(t, noCalls(t))
	aws := keys{"accessKeyID": "AKIA", "secretAccessKey": "hush-hush"}
	azure := keys{"tenantID": tenantGUID, "clientID": someGUID, "clientSecret": "hush-hush"}
	google := keys{"workloadIdentityProvider": "//iam.googleapis.com/" + pool, "serviceAccountEmail": robot}
	for name, body := range map[string]fields{
		"aws":   accountOf("aws", "111122223333", "static_keys", aws),
		"azure": accountOf("azure", someGUID, "service_principal", azure),
		"gcp":   accountOf("gcp", "my-project-123", "workload_identity_federation", google),
	} {
		for _, endpoint := range []any{nil, "https://cloud.example.com"} {
			got := s.call(alice, "POST", "/cloud-accounts", accountBody(body,
				fields{"regions": []string{"eu-atlantis-1"}, "endpointURL": endpoint}))
			if got.Status != 400 ||
				!strings.Contains(unquote(got.Body), `regions: "eu-atlantis-1" is not a region of `+name) {
				t.Errorf("%s, endpoint %v: %d %s", name, endpoint, got.Status, got.Body)
			}
		}
	}
}

func TestConnect_NamesASettingThatTheSimulatedCloudDoesNotHave(t *testing.T) {
	s := newFixture(t)
	got := s.call(alice, "POST", "/cloud-accounts",
		accountBody(fields{"credentials": keys{"size": "60", "throtle": "0.2"}}))
	said := unquote(got.Body)
	if got.Status != 400 || !strings.Contains(said, "credentials.throtle is not a setting") ||
		!strings.Contains(said, "throttle") {
		t.Errorf("%d %s", got.Status, said)
	}
	if list := s.call(alice, "GET", "/cloud-accounts", nil); !strings.Contains(list.Body, `"total":0`) {
		t.Errorf("it is stored: %s", list.Body)
	}
}
