package saml

import (
	"os"
	"regexp"
	"strconv"
	"testing"
)

// check 90: goxmldsig below 1.6.0 accepts forged signatures (CVE-2026-33487), and crewjam/saml requires an older
// version. etree is the version that it was tested with.
func TestTheSignatureCoreIsTheMendedOne(t *testing.T) {
	b, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for module, least := range map[string][3]int{
		"github.com/russellhaering/goxmldsig": {1, 6, 1}, "github.com/beevik/etree": {1, 7, 0},
	} {
		m := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) +
			` v(\d+)\.(\d+)\.(\d+)`).FindStringSubmatch(string(b))
		if m == nil {
			t.Errorf("go.mod does not name %s: then the version is what others ask for", module)
			continue
		}
		var have [3]int
		for i := range have {
			have[i], _ = strconv.Atoi(m[i+1])
		}
		if compare(have, least) < 0 {
			t.Errorf("%s is %v, below %v", module, have, least)
		}
	}
	if m := regexp.MustCompile(`(?m)^replace .*(goxmldsig|etree)`).Find(b); m != nil {
		t.Errorf("go.mod replaces it: %s", m)
	}
}

func compare(a, b [3]int) int {
	for i := range a {
		if a[i] != b[i] {
			return a[i] - b[i]
		}
	}
	return 0
}
