package takeover

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// stale returns the line about a package of one file of size bytes.
func stale(t *testing.T, name string, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("stale %s %s a.go", name, dir)
}

func TestCompilation_EstimatesFromTheBytesThatAreLeft(t *testing.T) {
	clk := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := newCompilation(clk)
	unknown, _ := c.Left()
	c.follow(stale(t, "cloud/ec2", 15_000_000))
	c.follow(stale(t, "cloud/s3", 15_000_000))
	begun, _ := c.Left()
	clk.Advance(15 * time.Second)
	c.follow("compiled: 1, cloud/ec2")
	half, _ := c.Left()
	c.follow("compiled: 2, cloud/s3")
	linked, err := c.Left()
	for _, got := range []struct {
		name string
		is   time.Duration
		want time.Duration
	}{
		{"before the packages are listed", unknown, 70*time.Second + linking},
		{"before anything is compiled", begun, 30*time.Second + linking},
		{"after the first half, at the usual speed", half, 15*time.Second + linking},
		{"when all is compiled", linked, linking},
	} {
		if got.is != got.want {
			t.Errorf("%s: %s, want %s", got.name, got.is, got.want)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestCompilation_FailsWithTheFirstError(t *testing.T) {
	c := newCompilation(clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
	for _, line := range []string{
		"Compiling what has changed.", "go: downloading a.example/b v1.0.0",
		"# lamplighter.dev/shared/cloud", "shared/cloud/a.go:1:1: expected 'package'", "make: *** Error 1",
	} {
		c.follow(line)
	}
	c.finish(errors.New("exit status 2"))
	<-c.Failed()
	if _, err := c.Left(); err == nil || err.Error() != "shared/cloud/a.go:1:1: expected 'package': exit status 2" {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(c.Output(), "# lamplighter.dev/shared/cloud\nshared/cloud/a.go:1:1") {
		t.Errorf("%q", c.Output())
	}
}
