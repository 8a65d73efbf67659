package cloud

import (
	_ "embed"
	"slices"
	"strings"
	"sync"

	"lamplighter.dev/shared/foundation/packedfile"
)

// resourceTypes names every type of resource that this service knows, one a line: our type, its provider, its title,
// and the provider's own names of it, the usual one first: service and resource as in ARNs and Resource Explorer
// ("ec2:volume"), the type of a resource in Azure ("microsoft.compute/disks"; a kind of it follows "#"), the asset
// type of Google Cloud ("compute.googleapis.com/Disk"), group and kind in Kubernetes ("apps/Deployment"). A type is
// never renamed or removed: records, rules and filters of customers name it.
//
//go:embed resourcetypes.csv.gz
var resourceTypes []byte

// nativeName is a provider's own name of a type, in lower case: Azure writes one type in several ways.
type nativeName struct{ provider, name string }

// knownTypes is the combined content of resourcetypes.csv and the catalogue.
type knownTypes struct {
	kinds  []Kind
	byType map[string]int
	native map[nativeName]string // our type
}

// readTypes reads the table on first use, so that functions without need of it do not pay for it.
var readTypes = sync.OnceValue(func() *knownTypes {
	t := &knownTypes{byType: map[string]int{}, native: map[nativeName]string{}}
	_, lines, _ := strings.Cut(string(packedfile.Read(resourceTypes)), "\n") // behind the header
	for line := range strings.Lines(lines) {
		t.addLine(strings.SplitN(strings.TrimSuffix(line, "\n"), ",", 4))
	}
	for _, k := range catalogue {
		t.addKind(k)
	}
	return t
})

// addLine adds a type that is only found, if its provider has an index of such things.
func (t *knownTypes) addLine(fields []string) {
	k := Kind{Type: fields[0], Provider: fields[1], Name: fields[2]}
	for i, n := range strings.Fields(fields[3]) {
		if i == 0 {
			k.Native = n
		}
		t.native[nativeName{k.Provider, strings.ToLower(n)}] = k.Type
	}
	_, indexed := collectives[k.Provider]
	k.Discoverable, k.Measured = indexed && !slices.Contains(containers, k.Type) &&
		!slices.Contains(kubernetesUnlisted, k.Type), len(MetricsOf(k.Type)) > 0
	t.byType[k.Type] = len(t.kinds)
	t.kinds = append(t.kinds, k)
}

// addKind replaces a type by its kind, which lists the possible acts.
func (t *knownTypes) addKind(k Kind) {
	i, named := t.byType[k.Type]
	if !named {
		i = len(t.kinds)
		t.byType[k.Type] = i
		t.kinds = append(t.kinds, k)
	}
	k.Native, k.Discoverable, k.Measured = t.kinds[i].Native, true, len(MetricsOf(k.Type)) > 0
	t.kinds[i] = k
}

// containers are the types that are accounts here. Rules name them, and no listing finds them.
var containers = []string{"aws-account", "azure-subscription", "gcp-project"}

// TypeOf returns our type for a provider's own name of one, without regard to case; "" when the catalogue has none.
func TypeOf(provider, native string) string {
	return readTypes().native[nativeName{provider, strings.ToLower(native)}]
}

// OtherType returns the type of resources that the catalogue has no name for. They are kept, with the provider's type
// as the fact NativeType, because the inventory must not miss a resource that costs money.
func OtherType(provider string) string { return provider + "-other" }

// IsCollective reports whether a kind stands for resources of many types: "aws-*".
func IsCollective(kind string) bool { return strings.HasSuffix(kind, "-*") }

// NativeType is the fact that holds the provider's type of a resource of OtherType: "ec2:capacity-block".
const NativeType = "native_type"

// Global is the region of resources without a region, such as roles and DNS zones. A collective kind with Global set
// is listed there besides the account's regions.
const Global = "global"
