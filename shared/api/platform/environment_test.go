package platform

import (
	"strings"
	"testing"
)

// check 89: secrets that separate installations have no default in the cloud.
func TestAFunctionDoesNotStartWithoutItsSecrets(t *testing.T) {
	if p, err := FromEnvironment(Secrets, newEnviron(nil)); err != nil || len(p.Settings.Pepper) < 32 ||
		p.Settings.PrivateAddresses || p.Settings.CustomEndpoints || p.Settings.Simulated {
		t.Fatalf("%+v, %v", p, err)
	}
	for name, says := range map[string]string{
		"LAMPLIGHTER_PEPPER_FROM=":             "LAMPLIGHTER_PEPPER_FROM is not set",
		"LAMPLIGHTER_SECRETS_KEY=":             "LAMPLIGHTER_SECRETS_KEY is not set",
		"LAMPLIGHTER_SIGNING_KEYS=":            "LAMPLIGHTER_SIGNING_KEYS is not set",
		"LAMPLIGHTER_TABLE=":                   "LAMPLIGHTER_TABLE is not set",
		"LAMPLIGHTER_STAGE=":                   "LAMPLIGHTER_STAGE is not set",
		"AWS_REGION=":                          "AWS_REGION is not set",
		"LAMPLIGHTER_PEPPER_FROM=short-secret": "has 12 bytes; it must have at least 32 random bytes",
		"LAMPLIGHTER_PEPPER_FROM={{resolve:secretsmanager:arn:of-a-secret}}": "reference to a secret",
		"LAMPLIGHTER_EPOCH=yesterday":                                        `"yesterday" is not a time`,
		"LAMPLIGHTER_EPOCH=2999-01-01T00:00:00Z":                             "is in the future",
		"LAMPLIGHTER_SIGNING_KEYS=arn:aws:kms:eu-west-1:1:key/t@soon":        "LAMPLIGHTER_SIGNING_KEYS",
	} {
		t.Run(name, func(t *testing.T) {
			variable, value, _ := strings.Cut(name, "=")
			p, err := FromEnvironment(Secrets, newEnviron(map[string]string{variable: value}), WithTokens)
			if p != nil || err == nil || !strings.Contains(err.Error(), says) {
				t.Fatalf("%v; want it to say %q", err, says)
			}
			if strings.Contains(err.Error(), "short-secret") {
				t.Errorf("it repeats the secret: %v", err)
			}
		})
	}
	t.Run("all that is missing is named at once", func(t *testing.T) {
		_, err := FromEnvironment(Secrets, func(string) string { return "" })
		if err == nil || strings.Count(err.Error(), "is not set") != 6 {
			t.Error(err)
		}
	})
}

// A permission of the operator requires the exact value.
func TestWhatAnOperatorAllows(t *testing.T) {
	for value, want := range map[string]bool{"true": true, "": false, "false": false, "1": false, "TRUE": false} {
		p, err := FromEnvironment(Secrets, newEnviron(map[string]string{
			"LAMPLIGHTER_PRIVATE_ADDRESSES": value,
			"LAMPLIGHTER_CUSTOM_ENDPOINTS":  value,
		}))
		if err != nil || p.Settings.PrivateAddresses != want || p.Settings.CustomEndpoints != want {
			t.Errorf("%q: %+v, %v", value, p.Settings, err)
		}
	}
}
