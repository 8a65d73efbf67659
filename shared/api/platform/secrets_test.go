package platform

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// vault is a Secrets Manager with secrets by their names. It keeps the names that it was asked for.
type vault struct {
	secrets map[string]string
	mu      sync.Mutex
	asked   []string
}

// ServeHTTP answers GetSecretValue.
func (v *vault) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var in struct {
		SecretID string `json:"SecretId"`
	}
	_ = json.NewDecoder(r.Body).Decode(&in)
	v.mu.Lock()
	v.asked = append(v.asked, in.SecretID)
	v.mu.Unlock()
	text, ok := v.secrets[in.SecretID]
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		text = `{"__type":"ResourceNotFoundException","Message":"Secrets Manager can't find the specified secret."}`
		_, _ = w.Write([]byte(text))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]string{"SecretString": text})
}

// environ returns the environment that template.yaml gives a function, with v as Secrets Manager.
func (v *vault) environ(t *testing.T, more map[string]string) func(string) string {
	t.Helper()
	srv := httptest.NewServer(v)
	t.Cleanup(srv.Close)
	env := map[string]string{
		"AWS_SAM_LOCAL": "", "AWS_ENDPOINT_URL": srv.URL, "AWS_ACCESS_KEY_ID": "a",
		"AWS_SECRET_ACCESS_KEY": "b", "LAMPLIGHTER_PEPPER_FROM": "pepper",
	}
	maps.Copy(env, more)
	return newEnviron(env)
}

// all returns a vault with every secret.
func all() *vault {
	return &vault{secrets: map[string]string{
		"pepper": strings.Repeat("p", 64), "google": "of google\n", "github": "of github", "gcp": "of the cloud",
		"prices": "a key", "smtp": "smtps://u:p@mail.example.com:465",
	}}
}

// named are the variables that name all secrets.
var named = map[string]string{
	"LAMPLIGHTER_GOOGLE_CLIENT_ID": "g", "LAMPLIGHTER_GOOGLE_CLIENT_SECRET_FROM": "google",
	"LAMPLIGHTER_GITHUB_CLIENT_ID": "h", "LAMPLIGHTER_GITHUB_CLIENT_SECRET_FROM": "github",
	"LAMPLIGHTER_GCP_CLIENT_ID": "c", "LAMPLIGHTER_GCP_CLIENT_SECRET_FROM": "gcp",
	"LAMPLIGHTER_GOOGLE_PRICES_KEY_FROM": "prices", "LAMPLIGHTER_SMTP_URL_FROM": "smtp",
}

func TestSecrets_AreReadAtStart(t *testing.T) {
	p, err := FromEnvironment(Secrets, all().environ(t, named))
	if err != nil {
		t.Fatal(err)
	}
	s := p.Settings
	if string(s.Pepper) != strings.Repeat("p", 64) || s.Google.Secret != "of google" ||
		s.GitHub.Secret != "of github" ||
		s.GoogleCloud.Secret != "of the cloud" || s.GooglePricesKey != "a key" ||
		s.MailServer != "smtps://u:p@mail.example.com:465" {
		t.Errorf("%+v", s)
	}
}

func TestSecrets_AFunctionReadsThoseThatItDeclares(t *testing.T) {
	v := all()
	p, err := FromEnvironment([]Secret{MailServerSecret}, v.environ(t, named))
	if err != nil || !slices.Equal(v.asked, []string{"smtp"}) {
		t.Fatalf("it asked for %v, %v", v.asked, err)
	}
	s := p.Settings
	if s.MailServer == "" || s.Google.ID+s.GitHub.ID+s.GoogleCloud.ID+s.GooglePricesKey != "" {
		t.Errorf("%+v", s)
	}
	other, err := FromEnvironment([]Secret{MailServerSecret}, v.environ(t, named))
	if err != nil || len(s.Pepper) < 32 || string(s.Pepper) == string(other.Settings.Pepper) {
		t.Errorf("without the pepper a function hashes under %q, %v; want random bytes", s.Pepper, err)
	}
}

func TestSecrets_WithoutThemAFunctionDoesNotStart(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		says string
	}{
		"no secret of this name": {
			map[string]string{"LAMPLIGHTER_PEPPER_FROM": "gone"},
			`LAMPLIGHTER_PEPPER_FROM names: read the secret "gone": 400 ResourceNotFoundException`,
		},
		"no name": {
			map[string]string{"LAMPLIGHTER_PEPPER_FROM": ""},
			"LAMPLIGHTER_PEPPER_FROM is not set",
		},
		"a short pepper": {map[string]string{"LAMPLIGHTER_PEPPER_FROM": "prices"}, "has 5 bytes"},
		"an optional secret is gone": {
			map[string]string{"LAMPLIGHTER_SMTP_URL_FROM": "gone"},
			"LAMPLIGHTER_SMTP_URL_FROM",
		},
		"a client without its secret": {
			map[string]string{"LAMPLIGHTER_GOOGLE_CLIENT_ID": "g"},
			"LAMPLIGHTER_GOOGLE_CLIENT_SECRET",
		},
		"a secret in the environment": {
			map[string]string{"LAMPLIGHTER_PEPPER": "in the environment"},
			"store it in Secrets Manager and name it in LAMPLIGHTER_PEPPER_FROM",
		},
		"an address in the environment": {
			map[string]string{"LAMPLIGHTER_SMTP_URL": "smtps://in the environment"},
			"LAMPLIGHTER_SMTP_URL_FROM",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := FromEnvironment(Secrets, all().environ(t, c.env))
			if p != nil || err == nil || !strings.Contains(err.Error(), c.says) {
				t.Fatalf("%v; want it to say %q", err, c.says)
			}
			if strings.Contains(err.Error(), "in the environment\"") || strings.Contains(err.Error(), "\n") {
				t.Errorf("it repeats the secret, or has several lines: %q", err)
			}
		})
	}
}

// `sam local invoke` works without a cloud, given the pepper by --env-vars.
func TestSecrets_AreVariablesInContainersOfSAM(t *testing.T) {
	v := all()
	p, err := FromEnvironment(Secrets, v.environ(t, map[string]string{
		"AWS_SAM_LOCAL": "true", "LAMPLIGHTER_PEPPER_FROM": strings.Repeat("x", 32),
		"LAMPLIGHTER_SMTP_URL_FROM": "smtp://localhost",
	}))
	if err != nil || len(v.asked) > 0 || string(p.Settings.Pepper) != strings.Repeat("x", 32) ||
		p.Settings.MailServer != "smtp://localhost" || p.Settings.Google.ID != "" {
		t.Errorf("%+v, %v; it asked for %v", p, err, v.asked)
	}
}
