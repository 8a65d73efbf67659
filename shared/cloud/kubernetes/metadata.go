package kubernetes

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

// Head is the part of an object's metadata that the facts of other objects need.
type Head struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	CreationTimestamp time.Time         `json:"creationTimestamp"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	OwnerReferences   []ownerReference  `json:"ownerReferences"`
}

// head returns the metadata of an object that embeds it.
func (h Head) head() Head { return h }

func (h Head) ref() ref { return ref{h.Namespace, h.Name} }

// headed is an object of which the metadata is read, and the fields that its facts need.
type headed interface{ head() Head }

// named is an object of which nothing else is read.
type named struct {
	Head `json:"metadata"`
}

// Metadata holds the fields that are read of the metadata of an object that is acted on.
type Metadata struct {
	Head
	UID             string          `json:"uid"`
	ResourceVersion string          `json:"resourceVersion"`
	Generation      int64           `json:"generation"`
	ManagedFields   []managedFields `json:"managedFields"`
}

// ownerReference names an object that owns another.
type ownerReference struct {
	Kind       string `json:"kind"`
	Name       string `json:"name"`
	Controller *bool  `json:"controller"`
}

// managedFields are the fields that one manager set last, as a tree of their names.
type managedFields struct {
	Manager     string          `json:"manager"`
	Time        time.Time       `json:"time"`
	Subresource string          `json:"subresource"`
	FieldsV1    json.RawMessage `json:"fieldsV1"`
}

// controller returns the owner that controls the object; false when it has none.
func (h Head) controller() (ownerReference, bool) {
	i := slices.IndexFunc(h.OwnerReferences, func(r ownerReference) bool { return isTrue(r.Controller) })
	if i < 0 {
		return ownerReference{}, false
	}
	return h.OwnerReferences[i], true
}

// labelSelector selects objects by their labels: all requirements must hold.
type labelSelector struct {
	MatchLabels      map[string]string  `json:"matchLabels"`
	MatchExpressions []labelRequirement `json:"matchExpressions"`
}

// labelRequirement is one requirement of a selector. The operators are In, NotIn, Exists and DoesNotExist.
type labelRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

// requirements returns all requirements, by key; false if there is none, or an invalid one.
func (s *labelSelector) requirements() ([]labelRequirement, bool) {
	if s == nil {
		return nil, false
	}
	var all []labelRequirement
	for key, value := range s.MatchLabels {
		all = append(all, labelRequirement{key, "=", []string{value}})
	}
	all = append(all, s.MatchExpressions...)
	slices.SortStableFunc(all, func(a, b labelRequirement) int { return strings.Compare(a.Key, b.Key) })
	return all, len(all) > 0 && !slices.ContainsFunc(all, func(r labelRequirement) bool { return !r.isValid() })
}

func (r labelRequirement) isValid() bool {
	switch r.Operator {
	case "=", "In", "NotIn":
		return len(r.Values) > 0
	case "Exists", "DoesNotExist":
		return len(r.Values) == 0
	}
	return false
}

// matches reports whether the labels fulfil the selector. A selector without requirements selects nothing.
func (s *labelSelector) matches(labels map[string]string) bool {
	all, ok := s.requirements()
	return ok && !slices.ContainsFunc(all, func(r labelRequirement) bool { return !r.matches(labels) })
}

func (r labelRequirement) matches(labels map[string]string) bool {
	value, there := labels[r.Key]
	switch r.Operator {
	case "=", "In":
		return there && slices.Contains(r.Values, value)
	case "NotIn":
		return !there || !slices.Contains(r.Values, value)
	case "Exists":
		return there
	}
	return !there
}

// String returns the selector as the parameter of a listing. For a selector without valid requirements it is "<none>",
// which a cluster refuses: a listing for it must not return everything.
func (s *labelSelector) String() string {
	all, ok := s.requirements()
	if !ok {
		return "<none>"
	}
	parts := make([]string, len(all))
	for i, r := range all {
		parts[i] = r.String()
	}
	return strings.Join(parts, ",")
}

// String returns the requirement as the API spells it: "app=web", "zone in (a,b)", "zone notin (a)", "zone", "!zone".
func (r labelRequirement) String() string {
	values := strings.Join(slices.Sorted(slices.Values(r.Values)), ",")
	switch r.Operator {
	case "=":
		return r.Key + "=" + values
	case "In":
		return r.Key + " in (" + values + ")"
	case "NotIn":
		return r.Key + " notin (" + values + ")"
	case "Exists":
		return r.Key
	}
	return "!" + r.Key
}
