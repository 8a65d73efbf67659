package kubernetes

import (
	"encoding/json"
)

// fieldManager is the name under which a cluster records the changes that are made here.
const fieldManager = "lamplighter"

// takenOver reports whether somebody else has changed, since a stop of ours, the field that the stop set. A cluster
// records who last gave a field another value. A cluster that records nothing gives no reason to believe it.
func (o object) takenOver() bool {
	others := false
	for i := range o.ManagedFields {
		if !holdsField(&o.ManagedFields[i], o.stopField()...) {
			continue
		}
		if o.ManagedFields[i].Manager == fieldManager {
			return false
		}
		others = true
	}
	return others
}

// stopField returns the path of the field that a stop sets.
func (o object) stopField() []string {
	switch o.Kind {
	case "CronJob":
		return []string{"f:spec", "f:suspend"}
	case "ScaledObject":
		return []string{"f:metadata", "f:annotations", "f:" + kedaReplicas}
	default:
		return []string{"f:spec", "f:replicas"}
	}
}

// holdsField reports whether the entry of a manager has the field.
func holdsField(m *managedFields, path ...string) bool {
	var at map[string]json.RawMessage
	raw := m.FieldsV1
	for _, name := range path {
		at = nil // or the decoder would add to it
		if json.Unmarshal(raw, &at) != nil {
			return false
		}
		var there bool
		if raw, there = at[name]; !there {
			return false
		}
	}
	return true
}
