package kubernetes

import (
	"context"
	"regexp"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// balancerFields are those of a Service that only a load balancer has, or that its type decides.
var balancerFields = []string{
	"externalTrafficPolicy", "healthCheckNodePort", "loadBalancerClass", "loadBalancerIP", "loadBalancerSourceRanges",
	"allocateLoadBalancerNodePorts",
}

// serviceType is the type of a Service. It is only made one without a load balancer.
func serviceType() changedValue {
	v := word("service_type", path{"spec", "type"}, "ClusterIP")
	v.fields = append(v.fields, path{"spec", "ports"})
	for _, name := range balancerFields {
		v.fields = append(v.fields, path{"spec", name})
	}
	v.write = func(_ *objectChange, d document, text string) error {
		if text != "ClusterIP" {
			return cloud.ErrInvalid("service_type %.40q is not ClusterIP", text)
		}
		d.put(text, "spec", "type")
		for _, name := range balancerFields {
			d.put(nil, "spec", name)
		}
		for _, port := range d.items("spec", "ports") {
			delete(port, "nodePort")
		}
		return nil
	}
	return v.within(func(context.Context, *objectChange, string) ([]string, error) {
		return []string{"its load balancer is deleted: the one of an undo has another address"}, nil
	})
}

// certificate is the name of the Secret with the certificate of an Ingress; "" if a host has none. No Secret is read.
func certificate() changedValue {
	return changedValue{
		name: "tls", fields: []path{{"spec", "tls"}},
		read: func(k *objectChange) string {
			i, err := decodeAs[ingress](k.now)
			if err != nil || !i.isEncrypted() {
				return ""
			}
			entries := k.now.items("spec", "tls")
			if len(entries) == 0 {
				return "by its class"
			}
			return entries[len(entries)-1].text("secretName")
		},
		write: func(_ *objectChange, d document, text string) error {
			if !objectName.MatchString(text) {
				return cloud.ErrInvalid("tls %.64q is no name of a Secret: give the one with the certificate", text)
			}
			list, _ := d.at("spec", "tls").([]any)
			entry := map[string]any{"secretName": text}
			if hosts := openHosts(d); len(hosts) > 0 {
				entry["hosts"] = hosts
			}
			d.put(append(slices.Clone(list), entry), "spec", "tls")
			return nil
		},
		check: func(context.Context, *objectChange, string) ([]string, error) {
			return []string{"the Secret is not read: if it has no certificate for the hosts, clients are warned"}, nil
		},
	}
}

// objectName matches the names of objects.
var objectName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// openHosts returns the hosts of an Ingress that no certificate covers.
func openHosts(d document) []any {
	i, err := decodeAs[ingress](d)
	if err != nil {
		return nil
	}
	var covered []string
	for _, t := range i.Spec.TLS {
		covered = append(covered, t.Hosts...)
	}
	var out []any
	for _, r := range i.Spec.Rules {
		if r.Host != "" && !coversHost(covered, r.Host) && !slices.Contains(out, any(r.Host)) {
			out = append(out, r.Host)
		}
	}
	return out
}
