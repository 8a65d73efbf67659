package platform_test

import (
	"encoding/json"
	"net/http"
	"os"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/testkit/tabletest"
)

// secretsManager calls moto's Secrets Manager, and returns a field of the answer.
func secretsManager(t *testing.T, endpoint, action, input, field string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint, strings.NewReader(input))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-amz-json-1.1")
	r.Header.Set("X-Amz-Target", "secretsmanager."+action)
	r.Header.Set("Authorization",
		"AWS4-HMAC-SHA256 Credential=peer/20260310/eu-west-1/secretsmanager/aws4_request, SignedHeaders=host, "+
			"Signature=none")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var out map[string]any
	if err := json.NewDecoder(resp.Body).Decode(&out); err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d, %v, %v", action, resp.StatusCode, out, err)
	}
	s, _ := out[field].(string)
	return s
}

// A function starts with the pepper that Secrets Manager generates for the template.
func TestThePepperThatSecretsManagerMakes(t *testing.T) {
	endpoint := tabletest.StartMoto(t)
	b, err := os.ReadFile("../../../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var template struct {
		Resources struct {
			Pepper struct {
				Properties struct {
					GenerateSecretString map[string]any `yaml:"GenerateSecretString"`
				} `yaml:"Properties"`
			} `yaml:"Pepper"`
		} `yaml:"Resources"`
	}
	if err = yaml.Unmarshal(b, &template); err != nil {
		t.Fatal(err)
	}
	how, err := json.Marshal(template.Resources.Pepper.Properties.GenerateSecretString)
	if err != nil || string(how) == "null" {
		t.Fatalf("the template makes no pepper: %s, %v", how, err)
	}
	made := secretsManager(t, endpoint, "GetRandomPassword", string(how), "RandomPassword")
	arn := secretsManager(t, endpoint, "CreateSecret",
		`{"Name":"pepper","ClientRequestToken":"0123456789abcdef0123456789abcdef","SecretString":"`+made+`"}`, "ARN")
	pepper := []platform.Secret{platform.PepperSecret}
	p, err := platform.FromEnvironment(pepper, func(name string) string {
		return map[string]string{
			"LAMPLIGHTER_PEPPER_FROM": arn, "AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "peer",
			"AWS_SECRET_ACCESS_KEY": "peer",
			"LAMPLIGHTER_TABLE":     "t", "LAMPLIGHTER_STAGE": "dev", "AWS_REGION": "eu-west-1",
			"LAMPLIGHTER_SECRETS_KEY":  "arn:aws:kms:eu-west-1:1:key/s",
			"LAMPLIGHTER_SIGNING_KEYS": "arn:aws:kms:eu-west-1:1:key/t",
		}[name]
	})
	if err != nil || string(p.Settings.Pepper) != made || len(made) < 64 {
		t.Errorf("%d bytes, %v", len(made), err)
	}
}
