package cloud

import (
	"cmp"
	"slices"
)

// catalogue describes every kind once, without linking an SDK. Providers take their descriptions from here, and so
// does GET /resources/types, which must stay small. Deadlines and batches were measured with the executor.
// shared/domain/pricing knows which kinds have prices. Each provider's part is a file beside this one.
var catalogue = slices.Concat(awsKinds, azureKinds, gcpKinds, kubernetesKinds)

// collectives are the collective kinds, by provider: each stands for all resources without a kind of their own.
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

// KindsOf lists the kinds of one provider that have a listing of their own, in the order of the catalogue, and after
// them the collective kind, if the provider has one.
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

// CollectiveOf returns the provider's collective kind, which stands for all resources without a kind of their own.
func CollectiveOf(provider string) Kind { return collectives[provider] }

// KindOf describes the kind of the type; false when the catalogue has none.
func KindOf(kind string) (Kind, bool) {
	t := readTypes()
	if i, ok := t.byType[kind]; ok {
		return t.kinds[i], true
	}
	return Kind{}, false
}
