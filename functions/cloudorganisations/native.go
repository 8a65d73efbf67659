package cloudorganisations

import (
	"regexp"

	"lamplighter.dev/shared/domain/connection"
	"lamplighter.dev/shared/foundation/fault"
)

// native describes the format of an organization's ID in its cloud.
type native struct {
	form    *regexp.Regexp
	example string
	told    bool // it may be left out: the credentials belong to one organization, which the cloud tells
}

// natives are the formats of the providers with organizations.
var natives = map[string]native{
	"aws": {regexp.MustCompile(`^o-[a-z0-9]{10,32}$`), "o- and 10 to 32 letters and digits, or none", true},
	"azure": {
		regexp.MustCompile(`^[\pL\pN_().-]{1,90}$`),
		"the id of a management group, as az account management-group list prints it in name", false,
	},
	"gcp": {
		regexp.MustCompile(`^(organizations|folders)/\d{1,19}$`),
		"organizations/ or folders/ with its number, such as folders/123456789012", false,
	},
	"simulated": {regexp.MustCompile(`^[\w.-]{1,64}$`), "1 to 64 letters, digits, dots and hyphens, or none", true},
}

// checkNative refuses providers without organizations, and malformed IDs.
func (s *service) checkNative(o connection.Organisation) error {
	n, knows := natives[o.Provider]
	switch {
	case !knows && connection.IsProvider(s.p, o.Provider):
		return fault.New(fault.Invalid, "provider: %s knows no organizations: connect its accounts one by one",
			o.Provider)
	case !knows || o.NativeID == "" && n.told:
		return nil // a provider that is none is refused with its credentials
	case o.NativeID == "":
		return fault.New(fault.Invalid, "organisationID: is required for provider %s: %s", o.Provider, n.example)
	case !n.form.MatchString(o.NativeID):
		return fault.New(fault.Invalid, "organisationID: %.100q is not the id of an organization of %s: %s", o.NativeID,
			o.Provider, n.example)
	}
	return nil
}
