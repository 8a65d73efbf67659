package endpoint_test

import (
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/endpoint"
)

func TestRules_CheckTheEndpointURLOfAnAccount(t *testing.T) {
	for name, c := range map[string]struct {
		rules     endpoint.Rules
		url, want string // want is a part of the error; "" is none
	}{
		"no address is allowed everywhere":  {endpoint.Rules{}, "", ""},
		"custom endpoints are switched off": {endpoint.Rules{}, "https://cloud.example.com", "no custom endpoints"},
		"a public address":                  {endpoint.Rules{Custom: true}, "https://cloud.example.com", ""},
		"a private address":                 {endpoint.Rules{Custom: true}, "https://10.0.0.1", "endpointURL: "},
		"http": {
			endpoint.Rules{Custom: true},
			"http://cloud.example.com",
			"endpointURL: ",
		},
		"a private address that is permitted": {endpoint.Rules{Custom: true, Private: true}, "http://10.0.0.1", ""},
		"private alone permits no endpoint": {
			endpoint.Rules{Private: true},
			"http://10.0.0.1",
			"no custom endpoints",
		},
		"a password is not in the error": {
			endpoint.Rules{Custom: true},
			"http://me:s3cret@10.0.0.1",
			"endpointURL: ",
		},
		"a port of its own is always accepted": {endpoint.Rules{Custom: true}, "https://cloud.example.com:8443", ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.rules.Check(c.url)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("the error %v; want none", err)
			case c.want == "":
			case err == nil || cloud.ClassOf(err) != cloud.Invalid || !strings.Contains(err.Error(), c.want):
				t.Errorf("the error %v; want class Invalid and %q", err, c.want)
			case strings.Contains(err.Error(), "s3cret"):
				t.Errorf("the error %v repeats the password", err)
			}
		})
	}
}
