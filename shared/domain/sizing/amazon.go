package sizing

import (
	"regexp"
	"strconv"
	"strings"
)

// amazonType matches a type of EC2: letters of the family, generation, letters of features, variant, size.
var amazonType = regexp.MustCompile(`^([a-z]+)([0-9]+)([a-z]*)(-flex)?\.([a-z0-9-]+)$`)

// localDisks are families of machines with local disks, by letters or by letters and generation. A machine loses what
// is on its local disks when its type changes, so no type replaces it. Other families have the letter d among their
// features if they have local disks.
var localDisks = map[string]bool{
	"m1": true, "m2": true, "m3": true, "c1": true, "c3": true, "r3": true, "x1": true,
	"d": true, "h": true, "hs": true, "i": true, "im": true, "is": true,
}

// irreplaceable lists the families with accelerators or FPGAs. Their generations have different hardware, so none
// replaces another.
var irreplaceable = map[string]bool{"inf": true, "trn": true, "dl": true, "vt": true, "f": true, "mac": true}

// placeAmazon sets the series of a type of EC2. Machines of a series have the same family, features and variant.
func (m *machine) placeAmazon() {
	p := amazonType.FindStringSubmatch(m.name)
	if p == nil || irreplaceable[p[1]] {
		return
	}
	family, features := p[1], p[3]
	m.generation, _ = strconv.Atoi(p[2]) // digits
	m.processor, features = amazonProcessor(features)
	if localDisks[family] || localDisks[family+p[2]] || strings.Contains(features, "d") {
		return
	}
	size, _, _ := strings.Cut(p[5], "-")
	if size != "metal" {
		m.label, size = p[5], ""
	}
	m.family, m.form = family, strings.Join([]string{features, p[4], size}, "/")
	m.series = family + "/" + m.form
	if m.Arm {
		m.processor = arm
	}
}

// amazonProcessor returns the maker of a processor by the letters of the features, and the other letters. The letter i
// names Intel only if it comes first: im4gn is a family.
func amazonProcessor(features string) (processor, string) {
	if features == "" {
		return intel, ""
	}
	switch features[0] {
	case 'a':
		return amd, features[1:]
	case 'g':
		return arm, features[1:]
	case 'i':
		return intel, features[1:]
	}
	return intel, features
}

// cutAffixes splits a type of a database, cache or search domain into its prefix, the type of its machine and its
// suffix.
func cutAffixes(class string) (prefix, machine, suffix string) {
	machine = class
	for _, p := range []string{"db.", "cache."} {
		if rest, cut := strings.CutPrefix(machine, p); cut {
			prefix, machine = p, rest
		}
	}
	for _, s := range []string{".search", ".elasticsearch"} {
		if rest, cut := strings.CutSuffix(machine, s); cut {
			suffix, machine = s, rest
		}
	}
	return prefix, machine, suffix
}
