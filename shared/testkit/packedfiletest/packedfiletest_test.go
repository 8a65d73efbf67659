package packedfiletest_test

import (
	"os"
	"testing"

	"lamplighter.dev/shared/foundation/packedfile"
	"lamplighter.dev/shared/testkit/packedfiletest"
)

func TestCheck_WritesWhatReadReturns(t *testing.T) {
	t.Chdir(t.TempDir())
	const want = "type,name\naws-ec2,instance\n"
	if err := os.WriteFile("table.csv", []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	packedfiletest.Check(t, "table.csv", true)
	packed, err := os.ReadFile("table.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	if got := string(packedfile.Read(packed)); got != want {
		t.Errorf("read %q; want %q", got, want)
	}
	packedfiletest.Check(t, "table.csv", false)
}
