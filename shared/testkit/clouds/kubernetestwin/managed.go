package kubernetestwin

import "slices"

// managedPaths are the fields whose last manager the twin records. An API server does that for all fields.
var managedPaths = [][]string{
	{"spec", "replicas"}, {"spec", "suspend"}, {"metadata", "annotations", "autoscaling.keda.sh/paused-replicas"},
}

// recordManager makes the manager the owner of the managed fields that now and before have differently.
func recordManager(now, before fields, manager string) {
	for _, path := range managedPaths {
		last := len(path) - 1
		is, there := valueAt(now, path[:last]...)[path[last]]
		was, had := valueAt(before, path[:last]...)[path[last]]
		if there != had || !sameJSON(is, was) {
			setManager(now, path, manager, there)
		}
	}
}

// setManager replaces the entry of a field. A field that is gone has none.
func setManager(o fields, path []string, manager string, there bool) {
	meta := valueAt(o, "metadata")
	entries, _ := meta["managedFields"].([]any)
	kept := []any{}
	for _, e := range entries {
		if entry, ok := e.(fields); ok && !hasPath(valueAt(entry, "fieldsV1"), path) {
			kept = append(kept, entry)
		}
	}
	if there {
		kept = append(kept,
			fields{
				"manager": manager, "operation": "Update", "time": made, "fieldsType": "FieldsV1",
				"fieldsV1": fieldsOf(path),
			})
	}
	meta["managedFields"] = kept
}

func fieldsOf(path []string) fields {
	out := fields{}
	for _, name := range slices.Backward(path) {
		out = fields{"f:" + name: out}
	}
	return out
}

func hasPath(o fields, path []string) bool {
	for _, p := range path {
		next, ok := o["f:"+p].(fields)
		if !ok {
			return false
		}
		o = next
	}
	return true
}
