package sizing

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// azureSize matches a size of Azure: family, number, letters of features, version. Sizes with fewer vCPUs than their
// number, with accelerators and on offer as a promotion do not match: no other size replaces them.
var azureSize = regexp.MustCompile(`^Standard_([A-Z]+)([0-9]+)([a-z]*)(?:_v([0-9]+))?$`)

// lastSCSIVersion is the last version of Azure's sizes that attaches disks by SCSI too. Images of machines of these
// versions may have no driver for NVMe.
const lastSCSIVersion = 5

// withoutReplacement are families with accelerators, local disks for data or confidential computing, of which each
// version is another kind of hardware, and those for high-performance computing, by their first letters.
var withoutReplacement = []string{"N", "L", "DC", "EC", "H"}

// placeAzure sets the series of a size of Azure. Sizes of a series have the same family, features and temporary disk:
// Azure does not move a machine with a temporary disk to a size without, or back.
func (m *machine) placeAzure() {
	p := azureSize.FindStringSubmatch(m.name)
	if p == nil || slices.ContainsFunc(withoutReplacement, func(f string) bool { return strings.HasPrefix(p[1], f) }) {
		return
	}
	family, number, features := p[1], p[2], p[3]
	m.generation = 1
	if p[4] != "" {
		m.generation, _ = strconv.Atoi(p[4]) // digits
	}
	if rest, premium := strings.CutSuffix(family, "S"); premium && m.generation <= 2 && rest != "" {
		family, features = rest, features+"s" // DS2_v2, GS3
	}
	if n, _ := strconv.Atoi(number); family == "D" && m.generation <= 2 && n > 10 {
		family = "E" // D11 to D15 have the memory of the later family E
	}
	m.nvme = m.generation > lastSCSIVersion
	m.processor, m.premium = azureProcessor(features), strings.Contains(features, "s")
	temporary := hasTemporaryDisk(family, features, m.generation)
	features = strings.NewReplacer("a", "", "p", "", "s", "", "d", "").Replace(features)
	m.family, m.form = family, features+"/"+strconv.FormatBool(temporary)
	m.series = family + "/" + m.form
}

// azureProcessor returns the maker of a processor by the letters of the features.
func azureProcessor(features string) processor {
	switch {
	case strings.Contains(features, "a"):
		return amd
	case strings.Contains(features, "p"):
		return arm
	}
	return intel
}

// hasTemporaryDisk reports whether the sizes of a family have a temporary disk: all up to version 3, later ones with
// the letter d, and those of AMD in version 4.
func hasTemporaryDisk(family, features string, version int) bool {
	switch {
	case strings.Contains(features, "d"):
		return true
	case family == "B":
		return version == 1
	case version == 4:
		return strings.Contains(features, "a")
	}
	return version < 4
}
