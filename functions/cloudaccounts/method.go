package cloudaccounts

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

// provider is how accounts of one cloud are described.
type provider struct {
	native  *regexp.Regexp // what its account numbers look like
	example string
	methods map[string]method
}

// method is an authMethod: the credentials that it takes. Any accepts others besides.
type method struct {
	required []string
	any      bool
	ours     bool // the external id belongs to it, which we give out
}

// Bounds of credentials.
const (
	maxCredentials = 40
	maxCredential  = 32 << 10 // bytes
)

var providers = map[string]provider{
	"aws": {
		native: regexp.MustCompile(`^\d{12}$`), example: "12 digits",
		methods: map[string]method{
			"assume_role":           {required: []string{"roleArn"}, ours: true},
			"static_keys":           {required: []string{"accessKeyID", "secretAccessKey"}},
			"temporary_credentials": {required: []string{"accessKeyID", "secretAccessKey", "sessionToken"}},
		},
	},
	"simulated": {
		native: regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`), example: "1 to 64 letters, digits, dots and hyphens",
		methods: map[string]method{"simulated": {any: true}},
	},
}

// findProvider finds a provider that this deployment has.
func findProvider(p *platform.Platform, name string) (provider, error) {
	names := slices.Sorted(maps.Keys(providers))
	if !p.Settings.Simulated {
		names = slices.DeleteFunc(names, func(n string) bool { return n == "simulated" })
	}
	if !slices.Contains(names, name) {
		return provider{}, fault.New(fault.Invalid, "provider: %.32q is not available in this deployment; available: %s",
			name, strings.Join(names, ", "))
	}
	return providers[name], nil
}

// checkCredentials checks what a caller sent for the method, and completes it with the external id of the organization.
func (s *service) checkCredentials(ctx context.Context, org string, a inventory.Account, sent map[string]string) (map[string]string, error) {
	pr, err := findProvider(s.p, a.Provider)
	if err != nil {
		return nil, err
	}
	m, ok := pr.methods[a.AuthMethod]
	if !ok {
		return nil, fault.New(fault.Invalid, "authMethod: %.64q is not one of %s",
			a.AuthMethod, strings.Join(slices.Sorted(maps.Keys(pr.methods)), ", "))
	}
	out := map[string]string{}
	for _, name := range m.required {
		if out[name] = strings.TrimSpace(sent[name]); out[name] == "" {
			return nil, fault.New(fault.Invalid, "credentials.%s: is required for authMethod %s", name, a.AuthMethod)
		}
	}
	if m.any {
		maps.Copy(out, sent)
	}
	if m.ours {
		if out["externalID"], err = s.demanded(ctx, org, sent["externalID"]); err != nil {
			return nil, err
		}
	}
	return out, bounded(out)
}

// demanded returns the organization's external id; another one that was sent is refused.
func (s *service) demanded(ctx context.Context, org, sent string) (string, error) {
	ours, err := s.externalID(ctx, org)
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
		if len(v) > maxCredential {
			return fault.New(fault.Invalid, "credentials.%.64s: is longer than %d bytes", name, maxCredential)
		}
	}
	return nil
}
