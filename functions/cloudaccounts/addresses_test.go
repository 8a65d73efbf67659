package cloudaccounts_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/api/platform"
)

// check 60, of the addresses that this group takes: endpoints of clouds, and servers in kubeconfigs.
func TestAddressesThatLeadIntoOurNetworkAreRefused(t *testing.T) {
	for _, tt := range []struct {
		name, address string
		private       bool // addresses are allowed
		refused       string
	}{
		{"metadata", "https://169.254.169.254/latest/meta-data/", false, "link-local or metadata address"},
		{
			"metadata where private ones are allowed", "https://169.254.169.254/latest/meta-data/", true,
			"link-local or metadata address",
		},
		{"this machine", "https://127.0.0.1:6443", false, "private or special network"},
		{"this machine where private ones are allowed", "https://127.0.0.1:6443", true, ""},
		{"a network of ours", "https://10.0.0.1", false, "private or special network"},
		{"a name of our network", "https://kube.internal:6443", false, "a host of a local network"},
		{"anything public", "https://api.example.com:6443", false, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFixture(t, func(p *platform.Platform) { p.Settings.PrivateAddresses = tt.private })
			said := func(what, body string) {
				if refused := strings.Contains(body, tt.refused) && tt.refused != ""; refused != (tt.refused != "") {
					t.Errorf("%s: %s; want %q", what, body, tt.refused)
				}
			}
			got := s.call(alice, "POST", "/cloud-accounts",
				accountBody(fields{"endpointURL": tt.address, "name": "Elsewhere", "cloudAccountID": "000000000002"}))
			said("the endpoint", got.Body)
			if (got.Status == 400) != (tt.refused != "") {
				t.Errorf("the endpoint: %d %s", got.Status, got.Body)
			}
			a := s.connectSettled(alice, fields{"credentials": keys{"size": "200", "regions": "1"}})
			config := strings.Replace(kubeconfigOf(`"token":"hush-hush"`), "https://api.example.com", tt.address, 1)
			got = s.call(alice, "PUT", accessPath(a.ID, "us-east-1", "main"),
				fields{"method": "kubeconfig", "kubeconfig": config})
			said("the server", got.Body)
			if want := map[bool]int{true: 400, false: 200}[tt.refused != ""]; got.Status != want {
				t.Errorf("the server: %d %s; want %d", got.Status, got.Body, want)
			}
		})
	}
}
