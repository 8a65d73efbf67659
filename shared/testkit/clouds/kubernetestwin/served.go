package kubernetestwin

import (
	"maps"
	"slices"
	"strings"
)

// servedGroups lists the groups that the cluster serves.
func (c *Cluster) servedGroups() fields {
	versions := map[string]bool{}
	for _, gv := range groups {
		versions[gv] = true
	}
	list := []any{}
	for _, gv := range slices.Sorted(maps.Keys(versions)) {
		group, version, _ := strings.Cut(gv, "/")
		if !slices.Contains(c.Without, group) {
			list = append(list,
				fields{"name": group, "versions": []any{fields{"groupVersion": gv, "version": version}}})
		}
	}
	return fields{"kind": "APIGroupList", "apiVersion": "v1", "groups": list}
}

// servedResources lists the resources of a group and version.
func servedResources(gv string) fields {
	list := []any{}
	for _, r := range slices.Sorted(maps.Keys(kinds)) {
		if groupVersion(r) == gv {
			list = append(list,
				fields{
					"name": r, "kind": kinds[r], "namespaced": r != "namespaces",
					"verbs": []any{"get", "list", "patch"},
				})
		}
	}
	return fields{"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": gv, "resources": list}
}
