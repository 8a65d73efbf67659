package sizing

// Wanted is what a replacement of the same size must have.
type Wanted int

// The kinds of replacements.
const (
	Newer      Wanted = iota // a later generation, the processor of the same maker
	AnyNewer                 // a later generation, any processor: for services that run no software of the customer
	Arm                      // an arm64 processor, for a machine without one
	AMD                      // a processor of AMD, for a machine with one of Intel
	Economical               // Google's series E2
)

// Equivalents returns the types of the same size that have what is wanted, in no order of price. It returns false for a
// type that the catalogue does not have, and an empty list for one that no type replaces. A machine with a GPU has no
// equivalents.
func Equivalents(provider, class string, w Wanted) (types []string, known bool) {
	if provider == "gcp" {
		return googleEquivalents(class, w)
	}
	c := readCatalogue()
	m := c.find(provider, class)
	if m == nil {
		return nil, false
	}
	if m.GPUs > 0 {
		return nil, true
	}
	prefix, suffix := "", ""
	if provider == "aws" {
		prefix, _, suffix = cutAffixes(class)
	}
	for _, other := range c.series[[2]string{provider, m.series}] {
		if other.has(w, m) && other.replaces(m) {
			types = append(types, prefix+other.name+suffix)
		}
	}
	return types, true
}

// has reports whether the machine has what is wanted in place of another.
func (m *machine) has(w Wanted, present *machine) bool {
	switch w {
	case Newer:
		return m.generation > present.generation && m.processor == present.processor
	case AnyNewer:
		return m.generation > present.generation
	case Arm:
		return m.processor == arm && present.processor != arm
	case AMD:
		return m.processor == amd && present.processor == intel && m.generation >= present.generation
	case Economical:
	}
	return false
}

// replaces reports whether the machine can do what another does. A type of AWS of the same label may have more vCPUs. A
// move to arm64 makes a new machine from another image, so the drivers of the present one do not matter.
func (m *machine) replaces(present *machine) bool {
	rebuilt := m.processor == arm && present.processor != arm
	if m.nvme && !present.nvme && !rebuilt || present.premium && !m.premium {
		return false
	}
	sameSize := m.VCPU == present.VCPU || m.label != "" && m.label == present.label
	return sameSize && isEnough(&present.Size, &m.Size)
}

// mostMemory is how many times the memory of a machine an equivalent may have.
const mostMemory = 2

// isEnough reports whether a size has at least the vCPUs and the memory of another, and not much more memory.
func isEnough(need, has *Size) bool {
	return has.VCPU >= need.VCPU && has.GiB >= need.GiB && has.GiB <= need.GiB*mostMemory
}
