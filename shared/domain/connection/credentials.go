package connection

import (
	"cmp"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"regexp"
	"strings"

	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// The formats of identifiers in credentials. They become parts of addresses that tokens are requested from, so all
// other values are refused.
var (
	domain           = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`)
	serviceAccount   = regexp.MustCompile(`^[a-z0-9][a-z0-9.-]*@([a-z0-9-]+\.)+gserviceaccount\.com$`)
	identityProvider = regexp.MustCompile(
		`^//iam\.googleapis\.com/projects/\d{1,19}/locations/global/workloadIdentityPools/` +
			`[a-z0-9-]{4,32}/providers/[a-z0-9-]{4,32}$`)
)

// longest returns the maximum length of a credential, in bytes.
func longest(name string) int {
	if name == "kubeconfig" {
		return kubeconfig.MaxBytes
	}
	return maxCredential
}

// checkPrincipal validates the identifiers of an Entra application and converts them to lower case.
func checkPrincipal(_ Opener, _ inventory.Account, c map[string]string) error {
	c["tenantID"], c["clientID"] = strings.ToLower(c["tenantID"]), strings.ToLower(c["clientID"])
	switch {
	case !guid.MatchString(c["tenantID"]) && !domain.MatchString(c["tenantID"]):
		return fault.New(fault.Invalid, "credentials.tenantID: %.64q is neither the GUID nor a domain of a directory",
			c["tenantID"])
	case !guid.MatchString(c["clientID"]):
		return fault.New(fault.Invalid, "credentials.clientID: %.64q is not the GUID of an application", c["clientID"])
	}
	return nil
}

// checkFederation validates the names of a workload identity provider and of its service account. It accepts the
// provider's name as gcloud prints it, and stores it as the audience.
func checkFederation(_ Opener, _ inventory.Account, c map[string]string) error {
	const field = "workloadIdentityProvider"
	name := strings.TrimPrefix(strings.TrimPrefix(c[field], "https:"), "//iam.googleapis.com/")
	c[field] = "//iam.googleapis.com/" + name
	switch {
	case !identityProvider.MatchString(c[field]):
		return fault.New(fault.Invalid,
			"credentials.%s: %.128q is not "+
				"//iam.googleapis.com/projects/NUMBER/locations/global/workloadIdentityPools/POOL/providers/PROVIDER",
			field, name)
	case !serviceAccount.MatchString(c["serviceAccountEmail"]):
		return fault.New(fault.Invalid,
			"credentials.serviceAccountEmail: %.128q is not the address of a service account", c["serviceAccountEmail"])
	}
	return nil
}

// key is a service account key in Google's format. Other types of files are refused, because they contain addresses
// to call and programs to run.
type key struct {
	Type       string `json:"type"`
	Project    string `json:"project_id"`
	KeyID      string `json:"private_key_id"`
	PrivateKey string `json:"private_key"`
	Email      string `json:"client_email"`
	ClientID   string `json:"client_id,omitempty"`
	TokenURI   string `json:"token_uri"`
	Universe   string `json:"universe_domain,omitempty"`
}

// googleToken is the token address for a key. Keys from before 2018 contain an older address of the same service.
const googleToken = "https://oauth2.googleapis.com/token" //nolint:gosec // an address

// wrapKey also accepts the fields of the key as the credentials themselves, because all its values are strings and
// callers may read "the JSON key" that way.
func wrapKey(sent map[string]string) map[string]string {
	if sent["serviceAccountKey"] != "" || sent["private_key"] == "" {
		return sent
	}
	text, err := json.Marshal(sent)
	if err != nil {
		return sent
	}
	return map[string]string{"serviceAccountKey": string(text)}
}

// checkServiceAccount validates the key and removes all fields that a service account key does not have.
func checkServiceAccount(_ Opener, a inventory.Account, c map[string]string) error {
	const field = "credentials.serviceAccountKey: "
	var k key
	if err := json.Unmarshal([]byte(c["serviceAccountKey"]), &k); err != nil {
		return fault.New(fault.Invalid,
			field+"it is not the JSON of a key: send the file that gcloud iam service-accounts keys create wrote")
	}
	switch {
	case k.Type != "service_account":
		return fault.New(fault.Invalid, field+"it is of type %.32q, not service_account", k.Type)
	case cmp.Or(k.Universe, "googleapis.com") != "googleapis.com":
		return fault.New(fault.Invalid, field+"universe_domain %.64q is not googleapis.com", k.Universe)
	case !serviceAccount.MatchString(k.Email):
		return fault.New(fault.Invalid, field+"client_email %.128q is not the address of a service account", k.Email)
	case !isGoogles(k.TokenURI) && a.EndpointURL == "":
		return fault.New(fault.Invalid, field+"token_uri is not Google's %s", googleToken)
	case !isPrivateKey(k.PrivateKey):
		return fault.New(fault.Invalid, field+"private_key is not a key in PEM")
	}
	k.TokenURI, k.Universe = googleToken, ""
	text, err := json.Marshal(k) //nolint:gosec // sealed before it is stored
	c["serviceAccountKey"] = string(text)
	return err
}

func isGoogles(tokenURI string) bool {
	return tokenURI == "" || tokenURI == googleToken ||
		tokenURI == "https://accounts.google.com/o/oauth2/token" //nolint:gosec // an address
}

func isPrivateKey(text string) bool {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return false
	}
	_, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		_, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	}
	return err == nil
}

// checkKubeconfig validates a kubeconfig and replaces it by a copy reduced to its current context.
func checkKubeconfig(o Opener, _ inventory.Account, c map[string]string) error {
	access, err := kubeconfig.ParseKubeconfig(c["kubeconfig"], o.P.Clock.Now())
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "credentials.%s", fault.Message(err))
	}
	if err = o.CheckReachable("credentials.kubeconfig: server", access.Server); err != nil {
		return err
	}
	if err = checkPrometheus(o, c); err != nil {
		return err
	}
	c["kubeconfig"], err = access.Kubeconfig()
	return err
}

// The optional credentials of a cluster: where its Prometheus is, and a bearer token for it. Both are credentials, so
// that a stored token is never sent to another address: sending one replaces both.
const (
	prometheusURL   = "prometheusURL"
	prometheusToken = "prometheusToken"
)

// checkPrometheus validates the address of a cluster's Prometheus, if there is one.
func checkPrometheus(o Opener, c map[string]string) error {
	at, token := c[prometheusURL], c[prometheusToken]
	switch {
	case at == "" && token == "":
		return nil
	case at == "":
		return fault.New(fault.Invalid, "credentials.prometheusToken: needs prometheusURL, the address that it is for")
	case token != "" && !strings.HasPrefix(at, "https://"):
		return fault.New(fault.Invalid, "credentials.prometheusURL: must begin with https://, for it is sent "+
			"prometheusToken")
	}
	return o.CheckReachable("credentials.prometheusURL", at)
}
