package kubernetes

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// ingress has the fields that are read of an Ingress.
type ingress struct {
	Head `json:"metadata"`
	Spec struct {
		Default ingressBackend `json:"defaultBackend"`
		TLS     []struct {
			Hosts []string `json:"hosts"`
		} `json:"tls"`
		Rules []struct {
			Host string `json:"host"`
			HTTP struct {
				Paths []struct {
					Backend ingressBackend `json:"backend"`
				} `json:"paths"`
			} `json:"http"`
		} `json:"rules"`
	} `json:"spec"`
}

type ingressBackend struct {
	Service struct {
		Name string `json:"name"`
	} `json:"service"`
	Resource *struct{} `json:"resource"` // another backend than a Service
}

func describeIngresses(ctx context.Context, c *cluster) (describer[ingress], error) {
	services, err := c.surveyServices(ctx)
	return func(i ingress, r *cloud.Resource) {
		if r.Facts = (cloud.Facts{"tls": i.isEncrypted()}); services.missing() != "" {
			r.Facts.Miss(services.missing(), "backend_missing")
			return
		}
		r.Facts["backend_missing"] = i.countMissing(services.value[i.Namespace])
	}, err
}

// countMissing counts the rules and the default backend whose Service does not exist.
func (i ingress) countMissing(services []service) float64 {
	n := 0
	count := func(b ingressBackend) {
		its := func(s service) bool { return s.Name == b.Service.Name }
		if b.Service.Name != "" && !slices.ContainsFunc(services, its) {
			n++
		}
	}
	count(i.Spec.Default)
	for _, r := range i.Spec.Rules {
		for _, p := range r.HTTP.Paths {
			count(p.Backend)
		}
	}
	return float64(n)
}

// certificateMarks are the annotations by which the load balancers of clouds take a certificate that is not a Secret.
var certificateMarks = []string{
	"alb.ingress.kubernetes.io/certificate-arn", "networking.gke.io/managed-certificates",
	"ingress.gcp.kubernetes.io/pre-shared-cert", "networking.gke.io/certmap",
	"appgw.ingress.kubernetes.io/appgw-ssl-certificate",
}

// isEncrypted reports whether each host has a certificate. An entry without hosts is for all of them.
func (i ingress) isEncrypted() bool {
	if slices.ContainsFunc(certificateMarks, func(mark string) bool { return i.Annotations[mark] != "" }) {
		return true
	}
	var covered []string
	for _, t := range i.Spec.TLS {
		if len(t.Hosts) == 0 {
			return true
		}
		covered = append(covered, t.Hosts...)
	}
	for _, r := range i.Spec.Rules {
		if !coversHost(covered, r.Host) {
			return false
		}
	}
	return len(covered) > 0
}

// coversHost reports whether a host is one of the names, or below a wildcard of them. The host of a rule without one is
// "": any certificate serves it.
func coversHost(names []string, host string) bool {
	_, domain, _ := strings.Cut(host, ".")
	return slices.Contains(names, host) || slices.Contains(names, "*."+domain) || host == "" && len(names) > 0
}
