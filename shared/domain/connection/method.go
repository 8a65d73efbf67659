package connection

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
)

// provider describes the accounts of one cloud.
type provider struct {
	native  *regexp.Regexp // the format of its account numbers, in lower case if fold is set
	example string
	fold    bool // its account numbers are case-insensitive
	told    bool // the number may be omitted, because the cloud returns it
	methods map[string]method
}

// method describes an authMethod by its credentials. If any is set, it also accepts other credentials.
type method struct {
	required []string
	optional []string
	any      bool
	// its credentials include the external ID, which we issue
	ours bool
	// how an account gets these credentials, if callers cannot send them
	made  string
	check func(o Opener, a inventory.Account, c map[string]string) error // validates c and removes unneeded fields
}

// The limits of credentials.
const (
	maxCredentials = 40
	maxCredential  = 32 << 10 // bytes
)

const simulatedCloud = "simulated"

// OAuthMethod is the authMethod of projects that a person has granted access to.
const OAuthMethod = "oauth"

var guid = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// providers are all providers. The workers link the SDKs, so they decide which providers a deployment has.
var providers = map[string]provider{
	"aws": {
		native: regexp.MustCompile(`^\d{12}$`), example: "12 digits",
		methods: map[string]method{
			"assume_role":           {required: []string{"roleArn"}, ours: true},
			"static_keys":           {required: []string{"accessKeyID", "secretAccessKey"}},
			"temporary_credentials": {required: []string{"accessKeyID", "secretAccessKey", "sessionToken"}},
		},
	},
	"azure": {
		native: guid, example: "the GUID of a subscription, as az account show --query id prints it", fold: true,
		methods: map[string]method{
			"service_principal": {
				required: []string{"tenantID", "clientID", "clientSecret"},
				check:    checkPrincipal,
			},
			"workload_identity_federation": {required: []string{"tenantID", "clientID"}, check: checkPrincipal},
		},
	},
	"gcp": {
		native:  regexp.MustCompile(`^(([a-z0-9.-]+\.[a-z0-9-]+:)?[a-z][a-z0-9-]{4,28}[a-z0-9]|\d{6,19})$`),
		example: "the id of a project, such as my-project-123, or its number",
		methods: map[string]method{
			"service_account": {required: []string{"serviceAccountKey"}, check: checkServiceAccount},
			OAuthMethod: {made: "GET /connect/gcp/oauth-url, POST /connect/gcp/oauth-exchange and " +
				"POST /connect/gcp/oauth-finalize make it"},
			"workload_identity_federation": {
				required: []string{"workloadIdentityProvider", "serviceAccountEmail"},
				check:    checkFederation,
			},
		},
	},
	"kubernetes": {
		native: guid, example: "the UID of the namespace kube-system; leave it out, and the cluster is asked",
		fold: true, told: true,
		methods: map[string]method{"kubeconfig": {
			required: []string{"kubeconfig"}, optional: []string{prometheusURL, prometheusToken},
			check: checkKubeconfig,
		}},
	},
	simulatedCloud: {
		native: regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`), example: "1 to 64 letters, digits, dots and hyphens",
		methods: map[string]method{"simulated": {any: true}},
	},
}

// findProvider returns a provider that this deployment may have, or fault.Invalid.
func findProvider(p *platform.Platform, name string) (provider, error) {
	names := slices.Sorted(maps.Keys(providers))
	if !p.Settings.Simulated {
		names = slices.DeleteFunc(names, func(n string) bool { return n == simulatedCloud })
	}
	if !slices.Contains(names, name) {
		return provider{},
			fault.New(fault.Invalid, "provider: %.32q is not available in this deployment; available: %s",
				name, strings.Join(names, ", "))
	}
	return providers[name], nil
}

// IsProvider reports whether this deployment may have the provider.
func IsProvider(p *platform.Platform, name string) bool {
	_, err := findProvider(p, name)
	return err == nil
}

// checkNative validates the account number and converts it to its stored spelling.
func (pr provider) checkNative(a *inventory.Account) error {
	if pr.fold {
		a.CloudAccountID = strings.ToLower(a.CloudAccountID)
	}
	switch {
	case a.CloudAccountID == "" && pr.told:
		return nil
	case a.CloudAccountID == "":
		return fault.New(fault.Invalid, "cloudAccountID: is required for provider %s: %s", a.Provider, pr.example)
	case !pr.native.MatchString(a.CloudAccountID):
		return fault.New(fault.Invalid, "cloudAccountID: %.64q is not an account number of %s: %s", a.CloudAccountID,
			a.Provider, pr.example)
	}
	return nil
}

// CheckCredentials validates the credentials sent for the authMethod of a. It returns the needed ones, completed with
// the organization's external ID. The error is fault.Invalid and names the field.
func (o Opener) CheckCredentials(ctx context.Context, org string, a inventory.Account,
	sent map[string]string,
) (map[string]string, error) {
	pr, err := findProvider(o.P, a.Provider)
	if err != nil {
		return nil, err
	}
	m, ok := pr.methods[a.AuthMethod]
	switch {
	case !ok:
		return nil, fault.New(fault.Invalid, "authMethod: %.64q is not one of %s, the methods of provider %s",
			a.AuthMethod, strings.Join(slices.Sorted(maps.Keys(pr.methods)), ", "), a.Provider)
	case m.made != "":
		return nil, fault.New(
			fault.Invalid, "authMethod: the credentials of %s cannot be sent: %s", a.AuthMethod, m.made)
	}
	if err = bounded(sent); err != nil {
		return nil, err
	}
	out, err := m.pick(a.AuthMethod, sent)
	if err == nil && m.check != nil {
		err = m.check(o, a, out)
	}
	if err == nil && m.ours {
		out["externalID"], err = o.demanded(ctx, org, sent["externalID"])
	}
	return out, err
}

// pick returns the credentials that the method needs. If the method accepts any, pick returns all of them.
func (m method) pick(name string, sent map[string]string) (map[string]string, error) {
	out := map[string]string{}
	if m.any {
		maps.Copy(out, sent)
	}
	if slices.Contains(m.required, "serviceAccountKey") {
		sent = wrapKey(sent)
	}
	for _, field := range m.required {
		if out[field] = strings.TrimSpace(sent[field]); out[field] == "" {
			return nil, fault.New(fault.Invalid, "credentials.%s: is required for authMethod %s", field, name)
		}
	}
	for _, field := range m.optional {
		if v := strings.TrimSpace(sent[field]); v != "" {
			out[field] = v
		}
	}
	return out, nil
}

// demanded returns the organization's external ID. It refuses another ID sent by the caller.
func (o Opener) demanded(ctx context.Context, org, sent string) (string, error) {
	ours, err := o.ExternalID(ctx, org)
	if err == nil && sent != "" && sent != ours {
		return "", fault.New(fault.Invalid, "credentials.externalID: it must be the one that "+
			"GET /cloud-accounts/aws/onboarding gives out, or be left out")
	}
	return ours, err
}

func bounded(credentials map[string]string) error {
	if len(credentials) > maxCredentials {
		return fault.New(fault.Invalid, "credentials: %d values are more than %d", len(credentials), maxCredentials)
	}
	for name, v := range credentials {
		if most := longest(name); len(v) > most {
			return fault.New(fault.Invalid, "credentials.%.64s: is longer than %d bytes", name, most)
		}
	}
	return nil
}
