package oauthlogintest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/clock"
)

// OpenID is a provider of OpenID Connect. Its people are alice, whose address is verified, and mallory, who claims
// the same address without proof. Any other NAME has the verified address NAME@example.com.
type OpenID struct {
	server
	clock clock.Clock
	key   jose.JSONWebKey
	edit  func(claims map[string]any)
}

// NewOpenID starts a provider that ends with the test and uses the clock c.
func NewOpenID(tb testing.TB, c clock.Clock) *OpenID {
	tb.Helper()
	o := &OpenID{clock: c}
	o.Rotate(tb)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", o.configuration)
	mux.HandleFunc("GET /authorize", func(w http.ResponseWriter, r *http.Request) {
		o.sendBack(w, r, url.Values{"iss": {o.URL}})
	})
	mux.HandleFunc("GET /keys", o.keys)
	mux.HandleFunc("POST /token", o.token)
	o.start(tb, mux)
	return o
}

// Rotate makes a new signing key. The old key is no longer published.
func (o *OpenID) Rotate(tb testing.TB) {
	tb.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.key = jose.JSONWebKey{Key: private, KeyID: rand.Text(), Algorithm: string(jose.ES256), Use: "sig"}
}

// Edit sets a function that changes the claims of ID tokens before the token endpoint signs them.
func (o *OpenID) Edit(f func(claims map[string]any)) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.edit = f
}

// Claims returns the claims of an ID token for a person.
func (o *OpenID) Claims(person string) map[string]any {
	now := o.clock.Now()
	c := map[string]any{
		"iss": o.URL, "sub": person, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
		"email": person + "@example.com", "email_verified": true, "name": person,
	}
	if person == "mallory" {
		c["email"], c["email_verified"] = "alice@example.com", false
	}
	return c
}

// Sign returns an ID token with exactly these claims.
func (o *OpenID) Sign(tb testing.TB, claims map[string]any) string {
	tb.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	return SignWith(tb, jose.SigningKey{Algorithm: jose.ES256, Key: o.key}, claims)
}

// SignText returns the payload, signed. The payload need not be claims.
func (o *OpenID) SignText(tb testing.TB, payload []byte) string {
	tb.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	token, err := signText(jose.SigningKey{Algorithm: jose.ES256, Key: o.key}, payload)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

// SignWith signs claims with any key.
func SignWith(tb testing.TB, key jose.SigningKey, claims map[string]any) string {
	tb.Helper()
	token, err := sign(key, claims)
	if err != nil {
		tb.Fatal(err)
	}
	return token
}

func sign(key jose.SigningKey, claims map[string]any) (string, error) {
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	return signText(key, payload)
}

func signText(key jose.SigningKey, payload []byte) (string, error) {
	s, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return "", err
	}
	jws, err := s.Sign(payload)
	if err != nil {
		return "", err
	}
	return jws.CompactSerialize()
}

func (o *OpenID) configuration(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"issuer": o.URL, "authorization_endpoint": o.URL + "/authorize", "token_endpoint": o.URL + "/token",
		"jwks_uri":                 o.URL + "/keys",
		"response_types_supported": []string{"code"}, "subject_types_supported": []string{"public"},
		"id_token_signing_alg_values_supported":          []string{"ES256"},
		"token_endpoint_auth_methods_supported":          []string{"client_secret_basic"},
		"authorization_response_iss_parameter_supported": true,
	})
}

func (o *OpenID) keys(w http.ResponseWriter, _ *http.Request) {
	o.mu.Lock()
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{o.key.Public()}}
	o.mu.Unlock()
	answer(w, http.StatusOK, set)
}

// token exchanges a code for the service's client only.
func (o *OpenID) token(w http.ResponseWriter, r *http.Request) {
	id, secret, ok := r.BasicAuth() // each part encoded as in a form (RFC 6749 section 2.3.1)
	if !ok || id != url.QueryEscape(ClientID) || secret != url.QueryEscape(Secret) {
		answer(w, http.StatusUnauthorized, map[string]string{"error": "invalid_client"})
		return
	}
	if r.ParseForm() != nil {
		answer(w, http.StatusBadRequest, map[string]string{"error": "invalid_request"})
		return
	}
	g, ok := o.redeem(r.PostForm)
	if !ok {
		answer(w, http.StatusBadRequest,
			map[string]string{"error": "invalid_grant", "error_description": "the code is\nnot good"})
		return
	}
	claims := maps.Clone(o.Claims(g.person))
	claims["nonce"] = g.asked.Get("nonce")
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.edit != nil {
		o.edit(claims)
	}
	token, err := sign(jose.SigningKey{Algorithm: jose.ES256, Key: o.key}, claims)
	if err != nil {
		answer(w, http.StatusInternalServerError, nil)
		return
	}
	answer(w, http.StatusOK,
		map[string]any{"access_token": rand.Text(), "token_type": "Bearer", "expires_in": 3600, "id_token": token})
}
