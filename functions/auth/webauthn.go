package auth

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"time"

	"lamplighter.dev/functions/auth/secondfactor"
	"lamplighter.dev/shared/people/passkeys"
)

// The types of this file are the JSON forms of WebAuthn Level 3, section 5.1, with the members that this service uses.
// Binary values are base64url without padding.

// PasskeyCreationOptions is PublicKeyCredentialCreationOptionsJSON.
type PasskeyCreationOptions struct {
	RP                     PasskeyService       `json:"rp"`
	User                   PasskeyUser          `json:"user"`
	Challenge              string               `json:"challenge" doc:"Good for one registration within 5 minutes"`
	PubKeyCredParams       []PasskeyAlgorithm   `json:"pubKeyCredParams" doc:"Accepted algorithms, best first"`
	Timeout                int                  `json:"timeout" doc:"Milliseconds"`
	ExcludeCredentials     []PasskeyDescriptor  `json:"excludeCredentials" doc:"The passkeys that the user has"`
	AuthenticatorSelection PasskeyAuthenticator `json:"authenticatorSelection"`
	Attestation            string               `json:"attestation" doc:"Always none"`
	Extensions             map[string]any       `json:"extensions" doc:"None are asked for"`
}

// PasskeyService is the service that a passkey is for.
type PasskeyService struct {
	ID   string `json:"id" doc:"Host of the service's address"`
	Name string `json:"name" doc:"Name of the service"`
}

// PasskeyUser is the user that a passkey is for.
type PasskeyUser struct {
	ID          string `json:"id" doc:"ID of the user, in base64url"`
	Name        string `json:"name" doc:"E-mail address of the user"`
	DisplayName string `json:"displayName" doc:"Name of the user"`
}

// PasskeyAlgorithm is an algorithm of signatures.
type PasskeyAlgorithm struct {
	Type string `json:"type" doc:"Always public-key"`
	Alg  int    `json:"alg" doc:"COSE algorithm"`
}

// PasskeyDescriptor names a passkey.
type PasskeyDescriptor struct {
	ID         string   `json:"id" doc:"ID of the credential, in base64url"`
	Type       string   `json:"type" doc:"Always public-key"`
	Transports []string `json:"transports" doc:"How its authenticator is reached"`
}

// PasskeyAuthenticator lists the demands on an authenticator.
type PasskeyAuthenticator struct {
	ResidentKey        string `json:"residentKey" doc:"Always required: the authenticator finds the passkey by the service"`
	RequireResidentKey bool   `json:"requireResidentKey" doc:"The same, for older browsers"`
	UserVerification   string `json:"userVerification" doc:"Always required: by PIN or biometry"`
}

// PasskeyRequestOptions is PublicKeyCredentialRequestOptionsJSON.
type PasskeyRequestOptions struct {
	Challenge        string              `json:"challenge" doc:"Good for one log-in within 5 minutes"`
	Timeout          int                 `json:"timeout" doc:"Milliseconds"`
	RPID             string              `json:"rpId" doc:"Host of the service's address"`
	AllowCredentials []PasskeyDescriptor `json:"allowCredentials" doc:"Always empty: the authenticator finds its passkeys"`
	UserVerification string              `json:"userVerification" doc:"Always required"`
}

// timeout is how long a browser waits for the user, in milliseconds.
const timeout = int(secondfactor.ChallengeTTL / time.Millisecond)

const (
	publicKey = "public-key"
	required  = "required"
)

func newCreationOptions(r secondfactor.Registration) PasskeyCreationOptions {
	out := PasskeyCreationOptions{
		RP: PasskeyService{r.Host, "Lamplighter"},
		User: PasskeyUser{
			base64.RawURLEncoding.EncodeToString([]byte(r.User.ID)), r.User.Email, r.User.Name,
		},
		Challenge: r.Challenge, Timeout: timeout, ExcludeCredentials: []PasskeyDescriptor{},
		AuthenticatorSelection: PasskeyAuthenticator{required, true, required},
		Attestation:            "none", Extensions: map[string]any{},
	}
	for _, alg := range passkeys.Algorithms() {
		out.PubKeyCredParams = append(out.PubKeyCredParams, PasskeyAlgorithm{publicKey, alg})
	}
	for _, id := range r.Known {
		out.ExcludeCredentials = append(out.ExcludeCredentials,
			PasskeyDescriptor{base64.RawURLEncoding.EncodeToString(id), publicKey, []string{}})
	}
	return out
}

func newRequestOptions(o secondfactor.LogInOptions) PasskeyRequestOptions {
	return PasskeyRequestOptions{o.Challenge, timeout, o.Host, []PasskeyDescriptor{}, required}
}

// PasskeyAttestation is the response of an authenticator to a registration.
type PasskeyAttestation struct {
	ClientDataJSON    string   `json:"clientDataJSON" maxLength:"8192" doc:"base64url"`
	AttestationObject string   `json:"attestationObject" maxLength:"65536" doc:"base64url"`
	Transports        []string `json:"transports,omitempty" maxItems:"16" doc:"How the authenticator is reached"`
}

// PasskeyCredential is RegistrationResponseJSON, without the members that are not used.
type PasskeyCredential struct {
	ID       string             `json:"id,omitempty" maxLength:"1400" doc:"ID of the credential, in base64url"`
	RawID    string             `json:"rawId,omitempty" maxLength:"1400" doc:"The same"`
	Type     string             `json:"type,omitempty" maxLength:"32" doc:"public-key"`
	Response PasskeyAttestation `json:"response,omitzero" doc:"The response of the authenticator"`
}

// PasskeyRegistration is the body of POST /auth/mfa/passkeys/confirm.
type PasskeyRegistration struct {
	PasskeyCredential

	Name       string             `json:"name,omitempty" maxLength:"100" doc:"A name of the user's choice; default: Passkey" example:"My phone"`
	Credential *PasskeyCredential `json:"credential,omitempty" doc:"The credential, in place of its members beside name"`
}

// newPasskey returns the credential with its name.
func (r PasskeyRegistration) newPasskey(name string) secondfactor.NewPasskey {
	c := cmp.Or(r.Credential, &r.PasskeyCredential)
	return secondfactor.NewPasskey{Name: name, ClientData: c.Response.ClientDataJSON, Credential: encode(c)}
}

// PasskeySignature is the response of an authenticator to a log-in.
type PasskeySignature struct {
	ClientDataJSON    string `json:"clientDataJSON" maxLength:"8192" doc:"base64url"`
	AuthenticatorData string `json:"authenticatorData" maxLength:"8192" doc:"base64url"`
	Signature         string `json:"signature" maxLength:"4096" doc:"base64url"`
	UserHandle        string `json:"userHandle,omitempty" maxLength:"128" doc:"ID of the user, in base64url"`
}

// PasskeyAssertion is AuthenticationResponseJSON, without the members that are not used.
type PasskeyAssertion struct {
	ID       string           `json:"id,omitempty" maxLength:"1400" doc:"ID of the credential, in base64url"`
	RawID    string           `json:"rawId,omitempty" maxLength:"1400" doc:"The same"`
	Type     string           `json:"type,omitempty" maxLength:"32" doc:"public-key"`
	Response PasskeySignature `json:"response,omitzero" doc:"The response of the authenticator"`
}

func (a *PasskeyAssertion) assertion() secondfactor.Assertion {
	return secondfactor.Assertion{
		CredentialID: a.RawID, ClientData: a.Response.ClientDataJSON, UserHandle: a.Response.UserHandle,
		Response: encode(a),
	}
}

// PasskeyLogInAssertion is the body of POST /auth/login/passkey/confirm.
type PasskeyLogInAssertion struct {
	PasskeyAssertion

	TenantID   string            `json:"tenantID,omitempty" maxLength:"64" doc:"The organization to work in; default: the user's first"`
	Credential *PasskeyAssertion `json:"credential,omitempty" doc:"The assertion, in place of its members"`
}

func (l *PasskeyLogInAssertion) assertion() secondfactor.Assertion {
	return cmp.Or(l.Credential, &l.PasskeyAssertion).assertion()
}

// encode returns v in JSON. The types of bodies can always be encoded.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return b
}
