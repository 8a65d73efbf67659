package console_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// vendored matches a line of vendor.txt with the sum of a file.
var vendored = regexp.MustCompile(`(?m)^sha256 ([0-9a-f]{64}) (\S+)$`)

func TestVendor_EachFileHasTheSumThatIsDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("static", "vendor.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed := vendored.FindAllStringSubmatch(string(text), -1)
	if len(listed) != 2 {
		t.Fatalf("vendor.txt has %d sums, want those of vendor.js and font.css", len(listed))
	}
	for _, line := range listed {
		b, err := os.ReadFile(filepath.Join("static", line[2]))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != line[1] {
			t.Errorf("%s has the sum %x, not that of vendor.txt: make it again as vendor.txt says", line[2], sum)
		}
	}
}
