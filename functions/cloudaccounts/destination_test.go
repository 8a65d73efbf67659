package cloudaccounts_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/apitest"
)

const (
	ownEndpoint   = "https://cloud.example.com"
	otherEndpoint = "https://thief.example.com"
)

// An account's stored credentials are sent to no address that its change brings along.
func TestUpdate_AnotherEndpointNeedsTheCredentialsAgain(t *testing.T) {
	sent := keys{"accessKeyID": "AKIA", "secretAccessKey": "stored"}
	again := keys{"accessKeyID": "AKIA", "secretAccessKey": "sent again"}
	for name, tt := range map[string]struct {
		endpoint any // of the account before
		change   fields
		status   int
	}{
		"another endpoint alone":              {ownEndpoint, fields{"endpointURL": otherEndpoint}, 400},
		"a first endpoint alone":              {nil, fields{"endpointURL": otherEndpoint}, 400},
		"back to the provider's own":          {ownEndpoint, fields{"endpointURL": nil}, 400},
		"the same endpoint with another path": {ownEndpoint, fields{"endpointURL": ownEndpoint + "/x"}, 400},
		"another endpoint beside other fields": {
			ownEndpoint,
			fields{"endpointURL": otherEndpoint, "name": "New", "regions": nil},
			400,
		},
		"the endpoint that it has":      {ownEndpoint, fields{"endpointURL": ownEndpoint}, 200},
		"no endpoint where it has none": {nil, fields{"endpointURL": nil}, 200},
		"another endpoint with its credentials": {
			ownEndpoint,
			fields{"endpointURL": otherEndpoint, "credentials": again},
			200,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := &renamed{name: "aws", native: "111122223333"}
			s := newFixture(t, withProvider(r))
			a := s.connectAccount(alice, accountOf("aws", "111122223333", "static_keys", sent),
				fields{"endpointURL": tt.endpoint})
			s.waitIdle()
			got := s.call(alice, "PUT", "/cloud-accounts/"+a.ID, tt.change)
			got.Want(tt.status)
			if tt.status == 400 &&
				(!strings.Contains(got.Body, "endpointURL:") || !strings.Contains(got.Body, "credentials")) {
				t.Errorf("%s; want the field endpointURL and that credentials have to be sent", got.Body)
			}
			s.waitIdle()
			opened := r.lastSettings()
			if opened.EndpointURL == otherEndpoint && opened.Credentials["secretAccessKey"] != "sent again" {
				t.Errorf("%s was sent the stored credentials", opened.EndpointURL)
			}
			if now := s.getAccount(alice, a.ID); tt.status == 400 &&
				(now.Name != a.Name || opened.EndpointURL == otherEndpoint) {
				t.Errorf("a refused change made %+v, opened at %q", now, opened.EndpointURL)
			}
		})
	}
}

// The shared step refuses it too, whichever operation leads there.
func TestReopen_RefusesStoredCredentialsForAnotherEndpoint(t *testing.T) {
	r := &renamed{name: "aws", native: "111122223333"}
	s := newFixture(t, withProvider(r))
	a := s.connectAccount(alice,
		accountOf("aws", "111122223333", "static_keys", keys{"accessKeyID": "AKIA", "secretAccessKey": "stored"}),
		fields{"endpointURL": nil})
	s.waitIdle()
	old := apitest.Value(table.Read[inventory.Account](s.In("org_a"), s.Table, inventory.AccountKey("org_a", a.ID)))(t)
	next := old
	next.EndpointURL = otherEndpoint
	opener := connection.Opener{P: s.Platform}
	change := connection.Change{Before: old, After: &next}
	for name, step := range map[string]error{
		"Reopen":  opener.Reopen(s.In("org_a"), "org_a", change),
		"Replace": opener.Replace(s.In("org_a"), "org_a", change),
	} {
		if step == nil || !strings.Contains(step.Error(), "endpointURL:") {
			t.Errorf("%s: %v", name, step)
		}
	}
	if r.lastSettings().EndpointURL == otherEndpoint {
		t.Error("the new endpoint was sent the stored credentials")
	}
}
