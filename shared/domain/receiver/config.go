package receiver

import (
	"cmp"
	"encoding/json"
	"maps"
	"net/mail"
	"regexp"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// maxValue is the maximum length of a configuration value, in bytes: a key of a service account has 2.4 kB.
const maxValue = 8 << 10

// IntegrationRules are this deployment's limits for configurations.
type IntegrationRules struct {
	Addresses ssrfguard.Policy // restricts the destinations of addresses
	Endpoints bool             // endpointURL is accepted
}

// merge returns the configuration after a change: given values replace old ones, empty values delete them, and
// missing values keep them.
func merge(have, given map[string]string) map[string]string {
	out := maps.Clone(have)
	if out == nil {
		out = map[string]string{}
	}
	for name, v := range given {
		if v == "" {
			delete(out, name)
			continue
		}
		out[name] = v
	}
	return out
}

// check validates a configuration with its secrets and fills in defaults. The error is fault.Invalid and names the
// field, but does not contain the value of a secret.
func (e *IntegrationKind) check(rules IntegrationRules, config map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(config)) {
		if !slices.ContainsFunc(e.Fields, func(f IntegrationField) bool { return f.Name == name }) {
			return fault.New(fault.Invalid, "config: %s has no field %.64q; it has %s", e.Name, name, e.names())
		}
	}
	for i := range e.Fields {
		f := &e.Fields[i]
		v := cmp.Or(config[f.Name], f.Default)
		if err := f.checkValue(rules, v); err != nil {
			return err
		}
		if v != "" {
			config[f.Name] = v
		}
	}
	return nil
}

func (f *IntegrationField) checkValue(rules IntegrationRules, v string) error {
	switch {
	case v == "" && f.Required:
		return f.invalid("it is missing: %s", f.Description)
	case v == "":
		return nil
	case len(v) > maxValue:
		return f.invalid("at most %d bytes", maxValue)
	case !f.Secret && strings.ContainsFunc(v, isControl):
		return f.invalid("it has a control character in it")
	case f.Name == EndpointURL && !rules.Endpoints:
		return f.invalid("this deployment accepts no custom endpoints")
	case f.address:
		return CheckAddress(rules.Addresses, "config."+f.Name, v)
	case len(f.Values) > 0 && !slices.Contains(f.Values, v):
		return f.invalid("%.64q is not one of %s", v, strings.Join(f.Values, ", "))
	}
	return f.checkForm(v)
}

// checkForms validates the form of each value of a stored configuration, because an older version may have stored a
// value that check now refuses.
func (e *IntegrationKind) checkForms(config map[string]string) error {
	for i := range e.Fields {
		if f := &e.Fields[i]; config[f.Name] != "" {
			if err := f.checkForm(config[f.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (f *IntegrationField) checkForm(v string) error {
	if f.Secret && f.check == nil {
		f = &IntegrationField{Name: f.Name, Secret: true, check: isCredential}
	}
	if f.check == nil {
		return nil
	}
	if why := f.check(v); why != "" && f.Secret {
		return f.invalid("it is not %s", why)
	} else if why != "" {
		return f.invalid("%.64q is not %s", v, why)
	}
	return nil
}

func (f *IntegrationField) invalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "config."+f.Name+": "+format, args...)
}

// split separates a configuration into plain and secret fields.
func (e *IntegrationKind) split(config map[string]string) (plain, secrets map[string]string) {
	plain, secrets = map[string]string{}, map[string]string{}
	for i := range e.Fields {
		f := &e.Fields[i]
		v, given := config[f.Name]
		switch {
		case given && f.Secret:
			secrets[f.Name] = v
		case given:
			plain[f.Name] = v
		}
	}
	return plain, secrets
}

// redirected returns the first field that determines the destination of secrets and has changed, or "".
func (e *IntegrationKind) redirected(was, is map[string]string) string {
	for i := range e.Fields {
		f := &e.Fields[i]
		if f.leads && was[f.Name] != is[f.Name] {
			return f.Name
		}
	}
	return ""
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

var (
	region     = regexp.MustCompile(`^[a-z]{2}(-[a-z]+)+-\d{1,2}$`)
	host       = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$`)
	project    = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,19}$`)
	issueName  = regexp.MustCompile(`^[A-Z][A-Z0-9_]{1,19}-\d{1,10}$`)
	routingKey = regexp.MustCompile(`^[A-Za-z0-9]{32}$`)
)

// Each of these functions returns the expected form if the value does not have it, or "".

func isAccountID(v string) string {
	return unless(id.IsValid("ca", v), "the id of a cloud account: GET /cloud-accounts lists them")
}

func isRegion(v string) string {
	return unless(region.MatchString(v), "a region of AWS, such as eu-west-1")
}

func isProject(v string) string {
	return unless(project.MatchString(v), "the key of a project, such as OPS")
}
func isShort(v string) string { return unless(len(v) <= 100, "a name of at most 100 bytes") }

func isRoutingKey(v string) string {
	return unless(routingKey.MatchString(v), "an integration key: 32 letters and digits")
}

func isJSON(v string) string {
	return unless(json.Valid([]byte(v)) && strings.HasPrefix(strings.TrimSpace(v), "{"), "the JSON of a key")
}

func isEmail(v string) string {
	a, err := mail.ParseAddress(v)
	return unless(err == nil && a.Address == v, "an address of a mailbox")
}

// isCredential checks that the value may stand in a header of a request.
func isCredential(v string) string {
	fine := !strings.ContainsFunc(v, func(r rune) bool { return r <= ' ' || r > '~' })
	return unless(fine, "a credential: it may have printable ASCII characters without blanks only")
}

// artifactHost matches the host of a Google Artifact Registry repository: its location, followed by "-docker".
var artifactHost = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*-docker\.pkg\.dev$`)

func isGoogleRegistry(v string) string {
	fine := artifactHost.MatchString(v) || host.MatchString(v) && ssrfguard.IsWithinDomain(v, "gcr.io")
	return unless(fine, "a registry of Google, such as europe-west1-docker.pkg.dev or eu.gcr.io")
}

// azureRegistries are the domains of Azure Container Registry. Each registry is a host below one of them.
var azureRegistries = []string{"azurecr.io", "azurecr.us", "azurecr.cn"}

func isAzureRegistry(v string) string {
	fine := host.MatchString(v) && !slices.Contains(azureRegistries, v) &&
		slices.ContainsFunc(azureRegistries, func(domain string) bool { return ssrfguard.IsWithinDomain(v, domain) })
	return unless(fine, "a host below "+strings.Join(azureRegistries, ", "))
}

func unless(fine bool, what string) string {
	if fine {
		return ""
	}
	return what
}
