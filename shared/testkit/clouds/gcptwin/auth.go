package gcptwin

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// Email is the address of the twin's service account.
const Email = "lamplighter@" + Project + ".iam.gserviceaccount.com"

// The twin's OAuth client, and a refresh token that was given to it.
const (
	ClientID     = "twin.apps.googleusercontent.com"
	ClientSecret = "twin-client-secret"    //nolint:gosec // opens nothing but the twin
	RefreshToken = "1//twin-refresh-token" //nolint:gosec // opens nothing but the twin
)

// The keys of the service account, and of somebody else.
var (
	ourKey   = sync.OnceValue(newKey)
	otherKey = sync.OnceValue(newKey)
)

func newKey() *rsa.PrivateKey {
	k, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	return k
}

// KeyFile is the JSON text of a key of the twin's service account.
func KeyFile() string { return keyFile(ourKey()) }

// StrangersKeyFile is one whose key the twin does not know.
func StrangersKeyFile() string { return keyFile(otherKey()) }

func keyFile(k *rsa.PrivateKey) string {
	der, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		panic(err)
	}
	b, err := json.Marshal(map[string]string{ //nolint:gosec // made anew in each process
		"type": "service_account", "project_id": Project, "private_key_id": "k1", "client_email": Email,
		"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
		"token_uri":   "https://evil.example.com/token",
	})
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (c *Cloud) issue(prefix string) string {
	t := fmt.Sprintf("%s.%d", prefix, c.nextNumber())
	if c.tokens == nil {
		c.tokens = map[string]bool{}
	}
	c.tokens[t] = true
	return t
}

// mintToken gives an access token for a signed assertion or a refresh token.
func (c *Cloud) mintToken(q request) (any, *failure) {
	form, _ := url.ParseQuery(q.raw)
	switch form.Get("grant_type") {
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		if f := checkAssertion(q, form.Get("assertion")); f != nil {
			return nil, f
		}
	case "refresh_token":
		if form.Get("client_id") != ClientID || form.Get("client_secret") != ClientSecret {
			return nil, newFailure(http.StatusUnauthorized, "invalid_client", "The OAuth client was not found.")
		}
		if form.Get("refresh_token") != RefreshToken {
			return nil, newFailure(http.StatusBadRequest, "invalid_grant", "Token has been expired or revoked.")
		}
	default:
		return nil, newFailure(
			http.StatusBadRequest, "unsupported_grant_type", "Invalid grant_type: %s", form.Get("grant_type"))
	}
	return map[string]any{"access_token": c.issue("ya29.twin"), "token_type": "Bearer", "expires_in": 3599}, nil
}

// checkAssertion checks signature, issuer, scope and audience: the address that it is sent to.
func checkAssertion(q request, assertion string) *failure {
	jws, err := jose.ParseSignedCompact(assertion, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return newFailure(http.StatusBadRequest, "invalid_grant", "Bad Request")
	}
	payload, err := jws.Verify(&ourKey().PublicKey)
	if err != nil {
		return newFailure(http.StatusBadRequest, "invalid_grant", "Invalid JWT Signature.")
	}
	var claims struct{ Iss, Aud, Scope string }
	if json.Unmarshal(payload, &claims) != nil || claims.Iss != Email ||
		!strings.Contains(claims.Scope, "cloud-platform") {
		return newFailure(http.StatusBadRequest, "invalid_grant", "Invalid JWT: issuer or scope")
	}
	if !strings.HasSuffix(claims.Aud, "://"+q.Host+"/token") {
		return newFailure(http.StatusBadRequest, "invalid_grant", "Invalid JWT: the audience %s is not this",
			claims.Aud)
	}
	return nil
}

// workloadPool is a workload identity provider: the audience that it accepts, "" for any, and the service account that
// it may impersonate.
type workloadPool struct{ audience, email string }

// KnowsToken reports whether the twin gave out the access token: GKE's clusters take those of the project.
func (c *Cloud) KnowsToken(token string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tokens[token]
}

// AddWorkloadPool adds a workload identity provider that takes tokens of that audience, "" for any, and may
// impersonate the address.
func (c *Cloud) AddWorkloadPool(provider, audience, email string) {
	c.ChangeLocked(func() {
		if c.pools == nil {
			c.pools = map[string]workloadPool{}
		}
		c.pools[provider] = workloadPool{audience, email}
	})
}

// Identity makes the tokens that the twin's workload identity providers know: it is this service's own issuer.
type Identity struct {
	mu       sync.Mutex
	audience []string
}

// IdentityToken returns a token for the audience.
func (i *Identity) IdentityToken(_ context.Context, audience string) (string, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.audience = append(i.audience, audience)
	return "twin-jwt." + base64.RawURLEncoding.EncodeToString([]byte(audience)), nil
}

// Audiences are those that tokens were made for.
func (i *Identity) Audiences() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.audience)
}

// exchangeToken gives a federated token for one of ours.
func (c *Cloud) exchangeToken(q request) (any, *failure) {
	form, _ := url.ParseQuery(q.raw)
	pool, ok := c.pools[form.Get("audience")]
	if !ok {
		return nil, newFailure(http.StatusBadRequest, "invalid_target", "The target service indicated by the "+
			"\"audience\" parameters is invalid.")
	}
	encoded, ours := strings.CutPrefix(form.Get("subject_token"), "twin-jwt.")
	audience, err := base64.RawURLEncoding.DecodeString(encoded)
	if !ours || err != nil || (pool.audience != "" && string(audience) != pool.audience) {
		return nil, newFailure(http.StatusBadRequest, "invalid_grant", "The audience in ID Token [%s] does not match "+
			"the expected audience.", audience)
	}
	return map[string]any{ //nolint:gosec // opens nothing but the twin
		"access_token":      c.issue("federated." + pool.email),
		"issued_token_type": "urn:ietf:params:oauth:token-type:access_token",
		"token_type":        "Bearer", "expires_in": 3599,
	}, nil
}

// impersonateAccount gives an access token of the service account for a federated one.
func (c *Cloud) impersonateAccount(q request) (any, *failure) {
	token := strings.TrimPrefix(q.Header.Get("Authorization"), "Bearer ")
	if !c.tokens[token] || !strings.HasPrefix(token, "federated."+q.args[0]+".") {
		return nil, newFailure(
			http.StatusForbidden, "PERMISSION_DENIED",
			"Permission 'iam.serviceAccounts.getAccessToken' denied on resource (or it may not exist).")
	}
	return map[string]any{
		"accessToken": c.issue("ya29.impersonated"),
		"expireTime":  time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
	}, nil
}

func (c *Cloud) getProject(q request) (any, *failure) {
	if m := c.findMember(q.args[0]); m != nil {
		return m.projectAnswer()
	}
	if q.args[0] != Project {
		return nil, newFailure(http.StatusForbidden, "PERMISSION_DENIED", "The caller does not have permission")
	}
	return map[string]any{
		"name": "projects/" + ProjectNumber, "projectId": Project, "state": "ACTIVE",
		"displayName": "Acme",
	}, nil
}

func (c *Cloud) testPermissions(q request) (any, *failure) {
	asked, _ := q.body["permissions"].([]any)
	if len(asked) > 100 {
		return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "At most 100 permissions")
	}
	granted := []string{}
	for _, p := range asked {
		if s, ok := p.(string); ok && !slices.Contains(c.Lacks, s) {
			granted = append(granted, s)
		}
	}
	return map[string]any{"permissions": granted}, nil
}
