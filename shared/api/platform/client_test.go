package platform

import (
	"strings"
	"testing"
)

// newEnviron returns an environment with the required variables, and more. It is one of `sam local`, so that secrets
// are among its variables.
func newEnviron(more map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := more[name]; ok {
			return v
		}
		return map[string]string{
			"LAMPLIGHTER_TABLE": "t", "LAMPLIGHTER_STAGE": "dev", "AWS_SAM_LOCAL": "true",
			"LAMPLIGHTER_PEPPER_FROM": "0123456789abcdef0123456789abcdef", "AWS_REGION": "eu-west-1",
			"LAMPLIGHTER_SECRETS_KEY":  "arn:aws:kms:eu-west-1:1:key/s",
			"LAMPLIGHTER_SIGNING_KEYS": "arn:aws:kms:eu-west-1:1:key/t",
			"LAMPLIGHTER_BASE_URL":     "https://lamplighter.test",
		}[name]
	}
}

func TestProvidersAreOffUntilTheyAreConfigured(t *testing.T) {
	p, err := FromEnvironment(Secrets, newEnviron(nil))
	if err != nil || p.Settings.Google.ID != "" || p.Settings.GitHub.ID != "" {
		t.Fatalf("%+v, %v", p, err)
	}
	p, err = FromEnvironment(Secrets, newEnviron(map[string]string{
		"LAMPLIGHTER_GOOGLE_CLIENT_ID": "g", "LAMPLIGHTER_GOOGLE_CLIENT_SECRET_FROM": "gs",
		"LAMPLIGHTER_GITHUB_CLIENT_ID": "h", "LAMPLIGHTER_GITHUB_CLIENT_SECRET_FROM": "hs",
		"LAMPLIGHTER_GITHUB_URL": "https://git.example/",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if want := (Client{"g", "gs", GoogleIssuer}); p.Settings.Google != want {
		t.Errorf("google %+v", p.Settings.Google)
	}
	if want := (Client{"h", "hs", "https://git.example"}); p.Settings.GitHub != want {
		t.Errorf("github %+v", p.Settings.GitHub)
	}
}

// check 89.
func TestAFunctionDoesNotStartWithHalfAProvider(t *testing.T) {
	both := map[string]string{
		"LAMPLIGHTER_GOOGLE_CLIENT_ID": "g", "LAMPLIGHTER_GOOGLE_CLIENT_SECRET_FROM": "secret value",
	}
	with := func(name, value string) map[string]string {
		m := map[string]string{name: value}
		for k, v := range both {
			if k != name {
				m[k] = v
			}
		}
		return m
	}
	for name, c := range map[string]struct {
		env  map[string]string
		says string
	}{
		"an id without its secret": {
			with("LAMPLIGHTER_GOOGLE_CLIENT_SECRET_FROM", ""),
			"LAMPLIGHTER_GOOGLE_CLIENT_SECRET",
		},
		"a secret without its id":    {with("LAMPLIGHTER_GOOGLE_CLIENT_ID", ""), "LAMPLIGHTER_GOOGLE_CLIENT_ID"},
		"an issuer without a scheme": {with("LAMPLIGHTER_GOOGLE_ISSUER", "accounts.example"), "not an http"},
		"an issuer that is a file":   {with("LAMPLIGHTER_GOOGLE_ISSUER", "file:///etc/passwd"), "not an http"},
		"an issuer with a query": {
			with("LAMPLIGHTER_GOOGLE_ISSUER", "https://accounts.example?a=b"), "not an http",
		},
		"nowhere to come back to": {with("LAMPLIGHTER_BASE_URL", ""), "LAMPLIGHTER_BASE_URL"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := FromEnvironment(Secrets, newEnviron(c.env))
			if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secret value") {
				t.Errorf("got %v", err)
			}
		})
	}
}
