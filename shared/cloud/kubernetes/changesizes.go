package kubernetes

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"lamplighter.dev/shared/cloud"
)

// The least that a container requests: 10 thousandths of a core, and 32 MiB.
const (
	leastCores = 0.01
	leastGiB   = 32.0 / 1024
)

// size is what the containers of a pod request or may take of a resource. The measures are those of whole pods, so
// only the size of a pod with one such container is set: nothing says how the use is divided among several.
type size struct {
	name     string
	of       string // "requests" or "limits"
	resource string // "cpu" or "memory"
	least    float64
}

func sizeValues() []changedValue {
	return []changedValue{
		size{"cpu_request_cores", "requests", "cpu", leastCores}.value(),
		size{"mem_request_gib", "requests", "memory", leastGiB}.value(),
		size{"cpu_limit_cores", "limits", "cpu", leastCores}.value(),
		size{"mem_limit_gib", "limits", "memory", leastGiB}.value(),
	}
}

func (s size) value() changedValue {
	return changedValue{
		name: s.name, fields: []path{inContainers("resources", s.of, s.resource)}, read: s.read, write: s.write,
		check: s.check,
	}
}

// unit is the number of the resource's own units in one of the value's.
func (s size) unit() float64 {
	if s.resource == "memory" {
		return gib
	}
	return 1
}

// sum returns the size of a pod, in cores or GiB.
func (s size) sum(d document) float64 {
	total := 0.0
	for _, c := range d.containers() {
		total += quantity(c.at("resources", s.of, s.resource)) / s.unit()
	}
	return total
}

func (s size) read(k *objectChange) string { return shortText(s.sum(k.now)) }

func (s size) write(_ *objectChange, d document, text string) error {
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n <= 0 || n > 1<<20 {
		return cloud.ErrInvalid("%s %.40q is no number above 0", s.name, text)
	}
	c, err := s.only(d)
	if err != nil {
		return err
	}
	c.put(s.text(max(n, s.least)), "resources", s.of, s.resource)
	return nil
}

// text returns a size as a quantity, rounded up: 0.115 cores are "115m", 0.15 GiB are "154Mi".
func (s size) text(n float64) string {
	const tiny = 1e-9
	if s.resource == "memory" {
		return fmt.Sprintf("%.0fMi", math.Ceil(n*1024-tiny))
	}
	return fmt.Sprintf("%.0fm", math.Ceil(n*1000-tiny))
}

// only returns the container that has the size.
func (s size) only(d document) (document, error) {
	var found []document
	for _, c := range d.containers() {
		if c.at("resources", s.of, s.resource) != nil {
			found = append(found, c)
		}
	}
	if len(found) != 1 {
		return nil, cloud.ErrUnsupported("%d of its containers have %s of %s, and the use is measured for whole pods: "+
			"divide it by hand", len(found), s.of, s.resource)
	}
	return found[0], nil
}

// containers returns the containers of a workload's pods.
func (d document) containers() []document { return d.items("spec", "template", "spec", "containers") }

// check refuses a size that something else sets or scales on, and one that the other size of the container forbids.
func (s size) check(ctx context.Context, k *objectChange, text string) ([]string, error) {
	c, err := s.only(k.now)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, cloud.ErrInvalid("%s %.40q is no number above 0", s.name, text)
	}
	request, limit := s.sizesOf(c)
	switch n = max(n, s.least); {
	case s.of == "requests" && limit > 0 && n > limit:
		return nil, cloud.ErrUnsupported("its limit of %s is %s: raise that first", s.resource, shortText(limit))
	case s.of == "limits" && n <= limit:
		return nil, cloud.ErrUnsupported("its limit of %s is %s: give a larger one", s.resource, shortText(limit))
	}
	limits := []string{fmt.Sprintf("container %s gets it: it is the only one with %s of %s", c.text("name"), s.of,
		s.resource)}
	if request == limit {
		limits = append(limits, "its pods are not of the class Guaranteed any more: nodes short of memory evict them "+
			"earlier")
	}
	return limits, s.checkScalers(ctx, k)
}

// sizesOf returns what a container requests and may take; 0 for what it does not say.
func (s size) sizesOf(c document) (request, limit float64) {
	return quantity(c.at("resources", "requests", s.resource)) / s.unit(),
		quantity(c.at("resources", "limits", s.resource)) / s.unit()
}

// checkScalers refuses a size that a VerticalPodAutoscaler sets, or a request that an autoscaler measures use by: it
// would scale at another load.
func (s size) checkScalers(ctx context.Context, k *objectChange) error {
	var why string
	err := eachIn(ctx, k.c, vpasOf, k.at.ns, func(v *vpa) {
		if v.acts() && v.Spec.Target.names(k.o.Kind, k.at.name) {
			why = "VerticalPodAutoscaler " + v.Name + " sets its requests and limits"
		}
	})
	if err == nil && s.of == "requests" {
		err = eachIn(ctx, k.c, hpasOf, k.at.ns, func(h *hpa) {
			if h.Spec.Target.names(k.o.Kind, k.at.name) && h.scalesOn(s.resource) {
				why = "HorizontalPodAutoscaler " + h.Name + " scales on its " + s.resource
			}
		})
	}
	if err == nil && why != "" {
		return cloud.ErrUnsupported("%s: change that instead", why)
	}
	return err
}

// scalesOn reports whether an autoscaler scales on a resource: one without metrics scales on the CPU.
func (h hpa) scalesOn(resource string) bool {
	if slices.Contains(h.resources(), resource) {
		return true
	}
	return len(h.Spec.Metrics) == 0 && resource == "cpu"
}
