package auth

import (
	"cmp"
	"encoding/json"

	"github.com/go-webauthn/webauthn/protocol"
)

// The types of this file are the JSON forms of WebAuthn Level 3, section 5.1, with the members that this service uses.
// Binary values are base64url without padding.

// PasskeyCreationOptions is PublicKeyCredentialCreationOptionsJSON.
type PasskeyCreationOptions struct {
	RP                     PasskeyService         `json:"rp"`
	User                   PasskeyUser            `json:"user"`
	Challenge              string                 `json:"challenge" doc:"Good for one registration within 5 minutes"`
	PubKeyCredParams       []PasskeyAlgorithm     `json:"pubKeyCredParams" doc:"Accepted algorithms, best first"`
	Timeout                int                    `json:"timeout" doc:"Milliseconds"`
	ExcludeCredentials     []PasskeyDescriptor    `json:"excludeCredentials" doc:"The passkeys that the user has"`
	AuthenticatorSelection PasskeyAuthenticator   `json:"authenticatorSelection"`
	Attestation            string                 `json:"attestation" doc:"Always none"`
	Extensions             map[string]interface{} `json:"extensions" doc:"None are asked for"`
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

// PasskeyAuthenticator is what an authenticator must be able to do.
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

func newCreationOptions(o protocol.PublicKeyCredentialCreationOptions) PasskeyCreationOptions {
	handle, _ := o.User.ID.(protocol.URLEncodedBase64)
	out := PasskeyCreationOptions{
		RP:        PasskeyService{o.RelyingParty.ID, o.RelyingParty.Name},
		User:      PasskeyUser{handle.String(), o.User.Name, o.User.DisplayName},
		Challenge: o.Challenge.String(), Timeout: o.Timeout, ExcludeCredentials: []PasskeyDescriptor{},
		AuthenticatorSelection: PasskeyAuthenticator{
			string(o.AuthenticatorSelection.ResidentKey), true, string(o.AuthenticatorSelection.UserVerification),
		},
		Attestation: string(o.Attestation), Extensions: map[string]any{},
	}
	for _, p := range o.Parameters {
		out.PubKeyCredParams = append(out.PubKeyCredParams, PasskeyAlgorithm{string(p.Type), int(p.Algorithm)})
	}
	for _, d := range o.CredentialExcludeList {
		known := PasskeyDescriptor{d.CredentialID.String(), string(d.Type), []string{}}
		for _, t := range d.Transport {
			known.Transports = append(known.Transports, string(t))
		}
		out.ExcludeCredentials = append(out.ExcludeCredentials, known)
	}
	return out
}

func newRequestOptions(o protocol.PublicKeyCredentialRequestOptions) PasskeyRequestOptions {
	return PasskeyRequestOptions{
		o.Challenge.String(), o.Timeout, o.RelyingPartyID, []PasskeyDescriptor{}, string(o.UserVerification),
	}
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

// encode returns the credential in the form of the library.
func (r PasskeyRegistration) encode() json.RawMessage {
	return encode(*cmp.Or(r.Credential, &r.PasskeyCredential))
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

func (a PasskeyAssertion) encode() json.RawMessage { return encode(a) }

// PasskeyLogInAssertion is the body of POST /auth/login/passkey/confirm.
type PasskeyLogInAssertion struct {
	PasskeyAssertion

	TenantID   string            `json:"tenantID,omitempty" maxLength:"64" doc:"The organization to work in; default: the user's first"`
	Credential *PasskeyAssertion `json:"credential,omitempty" doc:"The assertion, in place of its members"`
}

func (l PasskeyLogInAssertion) encode() json.RawMessage {
	return encode(*cmp.Or(l.Credential, &l.PasskeyAssertion))
}
