package redact

import "testing"

// FuzzHarmlessText compares the quick check with the full one: a text that harmlessText accepts must not match
// secretText.
func FuzzHarmlessText(f *testing.F) {
	for _, s := range []string{
		"", "GET", "/resource-groups/{groupID}", "gw_01k8z3v5y0e6m9x2q4t7r1c8bd", "lampr_01k0abcdefgh", "eyJhbGciOiJ",
		"AKIA1234", "ASIA1234",
		"-----BEGIN", "$argon2id", "ghp_abcdefgh", "gho-abcdefgh", "github_pat_abcdefgh", "glpat-abcdefgh",
		"sk_live_abcdefgh", "rk_live-abcdefgh",
		"xoxb-a", "whsec_abcdefgh", "AIzaabcdefghijklmnop", "ya29.", "GOCSPX-abcdefgh", "AccountKey=",
		"shared\u017faccesskey=", "Bearer abcdefgh", "BASIC abcdefghijklmnop",
		"a://b:c@d", "?code=", "#SAMLResponse=", "HOOKS.SLACK.COM/", "webhook.office.com/", "x.LOGIC.azure.com",
		"/API/Webhooks/", "/api/webhoo\u212as/",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if harmlessText(s) && secretText().MatchString(s) {
			t.Errorf("%q is called harmless, and holds %q", s, secretText().FindString(s))
		}
	})
}
