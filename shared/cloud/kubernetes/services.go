package kubernetes

import (
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// service has the fields that are read of a Service.
type service struct {
	Head `json:"metadata"`
	Spec struct {
		Type         string            `json:"type"`
		Selector     map[string]string `json:"selector"`
		SourceRanges []string          `json:"loadBalancerSourceRanges"`
		Ports        []servicePort     `json:"ports"`
	} `json:"spec"`
	Status struct {
		LoadBalancer struct {
			Ingress []struct{} `json:"ingress"`
		} `json:"loadBalancer"`
	} `json:"status"`
}

// servicePort is a port of a Service. One of several has a name.
type servicePort struct {
	Name string `json:"name"`
	Port int    `json:"port"`
}

// endpointSlice has the fields that are read of an EndpointSlice.
type endpointSlice struct {
	Head      `json:"metadata"`
	Endpoints []struct {
		Conditions struct {
			Ready *bool `json:"ready"`
		} `json:"conditions"`
	} `json:"endpoints"`
}

// surveyEndpoints counts the ready endpoints of each Service. An endpoint that does not say whether it is ready is.
func (c *cluster) surveyEndpoints(ctx context.Context) (answer[map[ref]float64], error) {
	return c.survey.endpoints.get(c.clock.Now(), false, func() (map[ref]float64, error) {
		out := map[ref]float64{}
		err := eachTyped(ctx, c, slicesOf, "", func(s *endpointSlice) {
			at := ref{s.Namespace, s.Labels["kubernetes.io/service-name"]}
			for _, e := range s.Endpoints {
				if e.Conditions.Ready == nil || *e.Conditions.Ready {
					out[at]++
				}
			}
		})
		return out, err
	})
}

// serviceFactors are the objects that the facts of Services need.
type serviceFactors struct {
	pods      answer[podSurvey]
	endpoints answer[map[ref]float64]
	services  answer[map[string][]service]
	workloads answer[byNamespace]
}

func describeServices(ctx context.Context, c *cluster) (describer[service], error) {
	var n serviceFactors
	err := readAll(
		reading(&n.pods, func() (answer[podSurvey], error) { return c.surveyPods(ctx) }),
		reading(&n.endpoints, func() (answer[map[ref]float64], error) { return c.surveyEndpoints(ctx) }),
		reading(&n.services, func() (answer[map[string][]service], error) { return c.surveyServices(ctx) }),
		reading(&n.workloads, func() (answer[byNamespace], error) { return c.surveyWorkloads(ctx, false) }),
	)
	return func(s service, r *cloud.Resource) { r.Facts = n.serviceFacts(s) }, err
}

// serviceFacts returns the facts of a Service.
func (n serviceFactors) serviceFacts(s service) cloud.Facts {
	f := cloud.Facts{
		"service_type": s.Spec.Type, "external_ip": len(s.Status.LoadBalancer.Ingress) > 0,
		"source_ranges": float64(len(s.Spec.SourceRanges)), "internal_lb": s.isInternal(),
		"namespace_lb_count": 0.0, "first_of_group": false,
	}
	if n.endpoints.missing() == "" {
		f["endpoint_count"] = n.endpoints.value[s.ref()]
	} else {
		f.Miss(n.endpoints.missing(), "endpoint_count")
	}
	n.addMatches(f, s)
	if s.isBalancer() {
		count, first := balancersIn(n.services.value[s.Namespace])
		f["namespace_lb_count"], f["first_of_group"] = float64(count), first == s.Name
	}
	return f
}

// addMatches adds how many pods the selector matches. Without a pod, the workloads count that it would match if they
// ran: a Service of a stopped workload does not dangle. A Service without a selector has the endpoints that somebody
// gives it.
func (n serviceFactors) addMatches(f cloud.Facts, s service) {
	const fact = "selector_matches"
	switch {
	case len(s.Spec.Selector) == 0 && n.endpoints.missing() != "":
		f.Miss(n.endpoints.missing(), fact)
	case len(s.Spec.Selector) == 0:
		f[fact] = n.endpoints.value[s.ref()]
	case n.pods.missing() != "":
		f.Miss(n.pods.missing(), fact)
	case n.pods.value.selected[s.ref()] > 0:
		f[fact] = float64(n.pods.value.selected[s.ref()])
	case n.workloads.missing() != "":
		f.Miss(n.workloads.missing(), fact)
	default:
		f[fact] = n.workloads.value.countSelected(s)
	}
}

// countSelected counts the workloads in the namespace of a Service whose pods it selects.
func (b byNamespace) countSelected(s service) float64 {
	h := b[s.Namespace]
	if h == nil {
		return 0
	}
	n := 0
	for _, list := range [][]object{h.deployments, h.rollouts, h.stateful} {
		for i := range list {
			if selectsLabels(s.Spec.Selector, list[i].templateLabels()) {
				n++
			}
		}
	}
	return float64(n)
}

// templateLabels are the labels that a workload gives its pods.
func (o object) templateLabels() map[string]string { return o.Spec.Template.Metadata.Labels }

func (s service) isBalancer() bool { return s.Spec.Type == "LoadBalancer" }

// balancersIn returns the number of load balancers among Services, and the name of the first.
func balancersIn(services []service) (count int, first string) {
	for i := range services {
		if !services[i].isBalancer() {
			continue
		}
		if count++; first == "" || services[i].Name < first {
			first = services[i].Name
		}
	}
	return count, first
}

// internalMarks are the annotations that make a provider's load balancer internal, with their values in lower case.
var internalMarks = map[string][]string{
	"service.beta.kubernetes.io/aws-load-balancer-internal":       {"true", "0.0.0.0/0"},
	"service.beta.kubernetes.io/aws-load-balancer-scheme":         {"internal"},
	"service.beta.kubernetes.io/azure-load-balancer-internal":     {"true"},
	"networking.gke.io/load-balancer-type":                        {"internal"},
	"cloud.google.com/load-balancer-type":                         {"internal"},
	"service.beta.kubernetes.io/oci-load-balancer-internal":       {"true"},
	"service.kubernetes.io/ibm-load-balancer-cloud-provider-type": {"private"},
	"service.beta.kubernetes.io/openstack-internal-load-balancer": {"true"},
}

// isInternal reports whether the load balancer of a Service has no address in the internet.
func (s service) isInternal() bool {
	for mark, values := range internalMarks {
		if v := strings.ToLower(s.Annotations[mark]); v != "" && slices.Contains(values, v) {
			return true
		}
	}
	return false
}
