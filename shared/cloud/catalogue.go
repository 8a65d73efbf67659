package cloud

import (
	"cmp"
	"slices"
)

// catalogue describes every kind once, in a place that links no SDK: providers take their descriptions from here, and
// so does GET /resources/types, which must stay small. Deadlines and batches are those of the executors' trials; which
// are priced, shared/domain/pricing knows. Each provider's part is a file beside this one.
var catalogue = slices.Concat(awsKinds, azureKinds, gcpKinds, kubernetesKinds)

// collectives are, by provider, the kinds that stand for everything which no other kind of the provider lists.
var collectives = map[string]Kind{
	"aws":        awsOthers,
	"azure":      azureOthers,
	"gcp":        gcpOthers,
	"kubernetes": kubernetesOthers,
	simulated:    {Type: "simulated-*", Provider: simulated, Name: "Everything else", Discoverable: true},
}

// Catalogue lists every type of every provider, ordered by provider and type: the types with a kind, which lists the
// possible acts, and the types that are only found (resourcetypes.csv).
func Catalogue() []Kind {
	out := slices.Clone(readTypes().kinds)
	slices.SortFunc(out, func(a, b Kind) int {
		return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Type, b.Type))
	})
	return out
}

// KindsOf lists the kinds of one provider that are listed by themselves, in the order of the catalogue, and behind
// them the collective one, where the provider has one.
func KindsOf(provider string) []Kind {
	var out []Kind
	for _, k := range catalogue {
		if k.Provider == provider {
			k, _ = KindOf(k.Type)
			out = append(out, k)
		}
	}
	if k, ok := collectives[provider]; ok {
		out = append(out, k)
	}
	return out
}

// CollectiveOf returns the kind that stands for everything which no other kind of the provider lists.
func CollectiveOf(provider string) Kind { return collectives[provider] }

// KindOf describes the kind of the type; false when the catalogue has none.
func KindOf(kind string) (Kind, bool) {
	t := readTypes()
	if i, ok := t.byType[kind]; ok {
		return t.kinds[i], true
	}
	return Kind{}, false
}
