package checks

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// checks is the number of security checks of the service.
const checks = 100

var (
	checkRow  = regexp.MustCompile(`(?m)^\| (\d+) \| [^|]+ \| ([^|]+) \|$`)
	testNamed = regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9_]+)`")
	testFunc  = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Za-z0-9_]+)\(`)
)

// TestEveryCheckIsHeldByATestThatExists reads the table of docs/security.md. Each check has one row in it, with an
// existing test or with the reason why the check has to wait.
func TestEveryCheckIsHeldByATestThatExists(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	there := testsOfTheTree(t)
	seen := map[string]int{}
	for _, row := range checkRow.FindAllStringSubmatch(string(doc), -1) {
		number, held := row[1], row[2]
		seen[number]++
		named := testNamed.FindAllStringSubmatch(held, -1)
		if len(named) == 0 && !strings.Contains(held, "waits for") {
			t.Errorf("check %s names neither a test nor what it waits for: %s", number, held)
		}
		for _, n := range named {
			if !there[n[1]] {
				t.Errorf("check %s is said to be held by %s, which does not exist", number, n[1])
			}
		}
	}
	for n := 1; n <= checks; n++ {
		if seen[strconv.Itoa(n)] != 1 {
			t.Errorf("check %d stands %d times in the table", n, seen[strconv.Itoa(n)])
		}
	}
}

// testsOfTheTree returns the names of all tests and fuzz targets of the repository.
func testsOfTheTree(t *testing.T) map[string]bool {
	t.Helper()
	out := map[string]bool{}
	err := filepath.WalkDir("../../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() && (d.Name() == "build" || d.Name() == ".git") {
			return skip(d, err)
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		b, err := os.ReadFile(path) //nolint:gosec // of this repository
		for _, f := range testFunc.FindAllStringSubmatch(string(b), -1) {
			out[f[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func skip(d fs.DirEntry, err error) error {
	if err == nil && d.IsDir() {
		return fs.SkipDir
	}
	return err
}
