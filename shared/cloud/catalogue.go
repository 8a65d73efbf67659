package cloud

import (
	"cmp"
	"slices"
)

// catalogue describes every kind once, in a place that links no SDK: providers take their descriptions from here, and so
// does GET /resources/types, which must stay small. Deadlines and batches are those of the executors' trials; no kind is
// Priced or Measured until the features that do that exist. Each provider's part is a file beside this one.
var catalogue = slices.Concat(awsKinds, azureKinds, gcpKinds, kubernetesKinds)

// Catalogue lists every kind of every provider, ordered by provider and type.
func Catalogue() []Kind {
	out := slices.Clone(catalogue)
	slices.SortFunc(out, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Type, b.Type))
	})
	return out
}

// KindsOf lists the kinds of one provider in the order of the catalogue.
func KindsOf(provider string) []Kind {
	var out []Kind
	for _, k := range catalogue {
		if k.Provider == provider {
			out = append(out, k)
		}
	}
	return out
}

// KindOf describes the kind of the type; false when the catalogue has none.
func KindOf(kind string) (Kind, bool) {
	for _, k := range catalogue {
		if k.Type == kind {
			return k, true
		}
	}
	return Kind{}, false
}
