package checks

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestSDKs_AreThoseOfTheDecision compares the compiled packages of the AWS SDK with the packages that the decision
// gives a reason for. One package can take longer to compile than the rest of the program.
func TestSDKs_AreThoseOfTheDecision(t *testing.T) {
	const decision = "docs/decisions/057-which-sdks-are-compiled.md"
	b, err := os.ReadFile("../../../" + decision)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(b), "**Compiled still.**")
	table, _, _ = strings.Cut(table, "**Compared with")
	var allowed []string
	for row := range strings.Lines(table) {
		first, _, _ := strings.Cut(strings.TrimPrefix(row, "| "), " | ")
		for _, m := range regexp.MustCompile("`([a-z0-9]+)`").FindAllStringSubmatch(first, -1) {
			if strings.HasPrefix(row, "| ") {
				allowed = append(allowed, m[1])
			}
		}
	}
	linked := map[string]bool{}
	for _, p := range list(t, "./cmd/lamplighter") {
		for _, d := range p.Deps {
			rest, ok := strings.CutPrefix(d, "github.com/aws/aws-sdk-go-v2/service/")
			name, _, _ := strings.Cut(rest, "/")
			if !ok || name == "internal" || linked[name] {
				continue
			}
			if linked[name] = true; !slices.Contains(allowed, name) {
				t.Errorf("the AWS SDK's package %s is compiled, and %s gives no reason: declare its operations in "+
					"shared/cloud/aws/wire instead", name, decision)
			}
		}
	}
	for _, name := range allowed {
		if !linked[name] {
			t.Errorf("%s says that the AWS SDK's package %s is compiled, but nothing imports it", decision, name)
		}
	}
}
