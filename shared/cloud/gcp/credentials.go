package gcp

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"cloud.google.com/go/auth"
	"cloud.google.com/go/auth/credentials/externalaccount"

	"lamplighter.dev/shared/cloud"
)

// The addresses at which tokens are made. The addresses in a service account's key file are ignored, because a user
// supplied that text.
const (
	tokenURL       = "https://oauth2.googleapis.com/token" //nolint:gosec // an address
	exchangeURL    = "https://sts.googleapis.com/v1/token"
	impersonateURL = "https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/"
	jwtType        = "urn:ietf:params:oauth:token-type:jwt"
	scope          = "https://www.googleapis.com/auth/cloud-platform"
)

var (
	poolProvider = regexp.MustCompile(
		`^//iam\.googleapis\.com/projects/\d+/locations/global/workloadIdentityPools/[a-z0-9-]+/providers/[a-z0-9-]+$`)
	serviceAccount = regexp.MustCompile(`^[a-z0-9-]+@([a-z0-9-]+(?:\.[a-z0-9-]+)*?)\.iam\.gserviceaccount\.com$`)
	projectID      = regexp.MustCompile(`^(?:(?:[a-z0-9.-]{1,60}:)?[a-z][a-z0-9-]{1,62}|\d{6,19})$`) // or the number
)

// identity is the token source that an account's credentials make. The project is "" when the credentials name none.
type identity struct {
	tokens  auth.TokenProvider
	project string
}

// openCredentials makes the identity of the account's authMethod. The client reaches the token endpoints.
func (p *Provider) openCredentials(a cloud.Account, client *http.Client) (identity, error) {
	switch a.AuthMethod {
	case "service_account":
		return keyIdentity(a, client)
	case "oauth":
		return p.oauthIdentity(a, client)
	case "workload_identity_federation":
		return p.federatedIdentity(a, client)
	default:
		return identity{},
			cloud.ErrInvalid("authMethod %q is not one of service_account, oauth, workload_identity_federation",
				a.AuthMethod)
	}
}

func checkGiven(c map[string]string, names ...string) error {
	for _, n := range names {
		if c[n] == "" {
			return cloud.ErrInvalid("credentials.%s is missing", n)
		}
	}
	return nil
}

// serviceAccountKey holds the fields that are read of a key file.
type serviceAccountKey struct {
	Type         string `json:"type"`
	ProjectID    string `json:"project_id"`
	PrivateKeyID string `json:"private_key_id"`
	PrivateKey   string `json:"private_key"`
	ClientEmail  string `json:"client_email"`
}

// parseKey parses a service account key. Its errors never repeat the text, which is the secret.
func parseKey(text string) (serviceAccountKey, error) {
	var k serviceAccountKey
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		return k, cloud.ErrInvalid("credentials.serviceAccountKey is not the JSON text of a key file")
	}
	switch {
	case k.Type != "service_account":
		return k, cloud.ErrInvalid("credentials.serviceAccountKey is a key of type %.40q; the file of a "+
			"service account "+
			"has the type service_account", k.Type)
	case k.ClientEmail == "" || k.PrivateKey == "":
		return k, cloud.ErrInvalid("credentials.serviceAccountKey lacks client_email or private_key")
	case !isPrivateKey(k.PrivateKey):
		return k, cloud.ErrInvalid("private_key in credentials.serviceAccountKey cannot be read")
	}
	return k, nil
}

// isPrivateKey reports whether the text is a private key as Google hands them out.
func isPrivateKey(text string) bool {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	_, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	return err == nil
}

// keyIdentity signs assertions with a service account's key. Their audience is the address that they are sent to, so
// an assertion for a custom endpoint is worthless at Google.
func keyIdentity(a cloud.Account, client *http.Client) (identity, error) {
	if err := checkGiven(a.Credentials, "serviceAccountKey"); err != nil {
		return identity{}, err
	}
	k, err := parseKey(a.Credentials["serviceAccountKey"])
	if err != nil {
		return identity{}, err
	}
	audience := tokenURL
	if a.EndpointURL != "" {
		audience = strings.TrimSuffix(a.EndpointURL, "/") + "/token"
	}
	tokens, err := auth.New2LOTokenProvider(&auth.Options2LO{
		Email: k.ClientEmail, PrivateKey: []byte(k.PrivateKey), PrivateKeyID: k.PrivateKeyID,
		TokenURL: tokenURL, Audience: audience, Scopes: []string{scope}, Client: client,
	})
	if err != nil {
		return identity{}, cloud.ErrInvalid("credentials.serviceAccountKey: %v", err)
	}
	return identity{tokens, k.ProjectID}, nil
}

// oauthIdentity uses the refresh token that the customer gave to this installation's OAuth client. A custom endpoint
// gets a placeholder client: ours is for Google alone.
func (p *Provider) oauthIdentity(a cloud.Account, client *http.Client) (identity, error) {
	if err := checkGiven(a.Credentials, "refreshToken"); err != nil {
		return identity{}, err
	}
	c := p.options.OAuth
	if a.EndpointURL != "" {
		c = OAuthClient{ID: "lamplighter", Secret: "lamplighter"}
	}
	if c.ID == "" {
		return identity{},
			cloud.ErrInvalid("authMethod oauth is not available: this installation has no OAuth client at Google")
	}
	tokens, err := auth.New3LOTokenProvider(&auth.Options3LO{
		ClientID: c.ID, ClientSecret: c.Secret, RefreshToken: a.Credentials["refreshToken"],
		AuthStyle: auth.StyleInParams,
		AuthURL:   "https://accounts.google.com/o/oauth2/v2/auth", TokenURL: tokenURL, Scopes: []string{scope},
		Client: client,
	})
	if err != nil {
		return identity{}, cloud.ErrInvalid("credentials.refreshToken: %v", err)
	}
	return identity{tokens: tokens}, nil
}

// federatedIdentity exchanges a token of this installation at the customer's workload identity pool, and impersonates
// the service account with the token that the pool returns.
func (p *Provider) federatedIdentity(a cloud.Account, client *http.Client) (identity, error) {
	c := a.Credentials
	if err := checkGiven(c, "workloadIdentityProvider", "serviceAccountEmail"); err != nil {
		return identity{}, err
	}
	email := serviceAccount.FindStringSubmatch(c["serviceAccountEmail"])
	switch {
	case !poolProvider.MatchString(c["workloadIdentityProvider"]):
		return identity{},
			cloud.ErrInvalid("credentials.workloadIdentityProvider %.200q is not of the form "+
				"//iam.googleapis.com/projects/<number>/locations/global/workloadIdentityPools/<pool>/"+
				"providers/<provider>",
				c["workloadIdentityProvider"])
	case email == nil:
		return identity{},
			cloud.ErrInvalid("credentials.serviceAccountEmail %.200q is not the address of a service account",
				c["serviceAccountEmail"])
	case p.options.Identity == nil && a.EndpointURL == "":
		return identity{},
			cloud.ErrInvalid("authMethod workload_identity_federation is not available: this installation has no " +
				"identity " +
				"of its own to federate")
	}
	made, err := externalaccount.NewCredentials(&externalaccount.Options{
		Audience: c["workloadIdentityProvider"], SubjectTokenType: jwtType, TokenURL: exchangeURL,
		ServiceAccountImpersonationURL: impersonateURL + url.PathEscape(c["serviceAccountEmail"]) +
			":generateAccessToken",
		Scopes: []string{scope}, Client: client, SubjectTokenProvider: p.subject(a),
	})
	if err != nil {
		return identity{}, cloud.ErrInvalid("credentials.workloadIdentityProvider: %v", err)
	}
	return identity{made.TokenProvider, email[1]}, nil
}

// subject makes the tokens that are exchanged.
func (p *Provider) subject(a cloud.Account) subjectTokens {
	if a.EndpointURL != "" {
		return subjectTokens{placeholder{}, Audience(a.Org)}
	}
	return subjectTokens{p.options.Identity, Audience(a.Org)}
}

// Audience is the audience that a customer's workload identity provider must allow, and no other. It names the
// organization: a pool that trusted this installation as such would open for every organization that guesses its name
// (the confused deputy).
func Audience(org string) string { return "lamplighter/" + org }

// subjectTokens are this installation's own tokens for one audience, in the form that Google's library asks for them.
type subjectTokens struct {
	from     cloud.IdentityTokens
	audience string
}

// SubjectToken returns a new token.
func (s subjectTokens) SubjectToken(ctx context.Context, _ *externalaccount.RequestOptions) (string, error) {
	return s.from.IdentityToken(ctx, s.audience)
}

// placeholder is the identity that a custom endpoint gets to see: ours is for Google alone.
type placeholder struct{}

// IdentityToken returns a text that is no token.
func (placeholder) IdentityToken(context.Context, string) (string, error) { return "lamplighter", nil }
