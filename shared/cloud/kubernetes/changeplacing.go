package kubernetes

import (
	"context"
	"regexp"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// spotMarks are the labels of nodes of spare capacity with their values.
var spotMarks = []struct{ key, value string }{
	{spotKeys[0], "true"}, {spotKeys[1], "spot"}, {spotKeys[2], "SPOT"}, {spotKeys[3], "spot"},
}

// spotTolerant lets pods run on nodes of spare capacity, and prefers those.
func spotTolerant() changedValue {
	preferred := inTemplate("affinity", "nodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution")
	return changedValue{
		name: "spot_tolerant", fields: []path{inTemplate("tolerations"), preferred},
		read: func(k *objectChange) string { return strconv.FormatBool(k.o.Spec.Template.Spec.toleratesSpot()) },
		write: func(k *objectChange, d document, text string) error {
			if text != "true" {
				return cloud.ErrInvalid("spot_tolerant %.40q is not true", text)
			}
			if k.o.Spec.Template.Spec.toleratesSpot() {
				return nil
			}
			tolerations, _ := d.at(inTemplate("tolerations")...).([]any)
			terms, _ := d.at(preferred...).([]any)
			for _, m := range spotMarks {
				tolerations = append(tolerations,
					map[string]any{"key": m.key, "operator": "Exists", "effect": "NoSchedule"})
				terms = append(terms, map[string]any{"weight": int64(1), "preference": map[string]any{
					"matchExpressions": []any{map[string]any{"key": m.key, "operator": "In", "values": []any{m.value}}},
				}})
			}
			d.put(tolerations, inTemplate("tolerations")...)
			d.put(terms, preferred...)
			return nil
		},
		check: func(context.Context, *objectChange, string) ([]string, error) {
			return []string{
				"nodes of spare capacity are taken away at short notice, and its pods with them",
				"it saves only where the cluster has such nodes",
			}, nil
		},
	}
}

// spread is true if replicas of a workload keep away from each other.
func spread() changedValue {
	at := inTemplate("topologySpreadConstraints")
	return changedValue{
		name: "spread", fields: []path{at},
		read: func(k *objectChange) string {
			p := k.o.Spec.Template.Spec
			return strconv.FormatBool(len(p.Spread) > 0 || p.Affinity["podAntiAffinity"] != nil)
		},
		write: func(_ *objectChange, d document, text string) error {
			if list, _ := d.at(at...).([]any); len(list) > 0 {
				return nil
			}
			if text != "true" {
				return cloud.ErrInvalid("spread %.40q is not true", text)
			}
			var list []any
			for _, key := range []string{"kubernetes.io/hostname", "topology.kubernetes.io/zone"} {
				list = append(list, map[string]any{
					"maxSkew": int64(1), "topologyKey": key, "whenUnsatisfiable": "ScheduleAnyway",
					"labelSelector": d.at("spec", "selector"),
				})
			}
			d.put(list, at...)
			return nil
		},
	}
}

// probe is a probe of the only container: "http:8080/ready", "tcp:8080", "another one", or "" if there is none.
func probe(name, field string) changedValue {
	return changedValue{
		name: name, fields: []path{inContainers(field)},
		read: func(k *objectChange) string {
			for _, c := range k.now.containers() {
				return probeText(c.at(field))
			}
			return ""
		},
		write: func(_ *objectChange, d document, text string) error {
			m := probeForm.FindStringSubmatch(text)
			all := d.containers()
			switch {
			case m == nil:
				return cloud.ErrInvalid("%s %.60q is no probe: give http:PORT/PATH or tcp:PORT", name, text)
			case len(all) != 1:
				return cloud.ErrUnsupported("it has %d containers: add the probe by hand", len(all))
			}
			port, _ := strconv.ParseInt(m[2], 10, 32)
			if m[1] == "tcp" {
				all[0].put(map[string]any{"tcpSocket": map[string]any{"port": port}}, field)
				return nil
			}
			all[0].put(map[string]any{"httpGet": map[string]any{
				"path": firstOf(m[3], "/"), "port": port, "scheme": "HTTP",
			}}, field)
			return nil
		},
	}
}

var probeForm = regexp.MustCompile(`^(http|tcp):([1-9][0-9]{0,4})(/[A-Za-z0-9/_.-]{0,80})?$`)

func probeText(v any) string {
	m, _ := v.(map[string]any)
	d := document(m)
	port := strconv.FormatInt(d.number("httpGet", "port")+d.number("tcpSocket", "port"), 10)
	switch {
	case m == nil:
		return ""
	case d.at("httpGet") != nil && port != "0":
		return "http:" + port + d.text("httpGet", "path")
	case d.at("tcpSocket") != nil && port != "0":
		return "tcp:" + port
	}
	return "another one"
}

var imageVersion = regexp.MustCompile(`^([A-Za-z0-9_][A-Za-z0-9_.-]{0,99}|sha256:[0-9a-f]{64})$`)

// imageTag is the version of the image of the only container: its tag, its digest, or "" if it has neither.
func imageTag() changedValue {
	return changedValue{
		name: "latest_tag", fields: []path{inContainers("image")},
		read: func(k *objectChange) string {
			for _, c := range k.now.containers() {
				_, version := splitImage(c.text("image"))
				return version
			}
			return ""
		},
		write: func(_ *objectChange, d document, text string) error {
			all := d.containers()
			switch {
			case !imageVersion.MatchString(text) || text == "latest":
				return cloud.ErrInvalid("latest_tag %.80q is no version: give a tag that is not latest, or sha256:…",
					text)
			case len(all) != 1:
				return cloud.ErrUnsupported("it has %d containers: set the versions of their images by hand", len(all))
			}
			image, _ := splitImage(all[0].text("image"))
			if strings.HasPrefix(text, "sha256:") {
				image += "@" + text
			} else {
				image += ":" + text
			}
			all[0].put(image, "image")
			return nil
		},
	}
}

// splitImage returns the name of an image, and its digest or tag.
func splitImage(image string) (name, version string) {
	if name, version, is := strings.Cut(image, "@"); is {
		return name, version
	}
	if i := strings.LastIndexByte(image, ':'); i > strings.LastIndexByte(image, '/') {
		return image[:i], image[i+1:]
	}
	return image, ""
}
