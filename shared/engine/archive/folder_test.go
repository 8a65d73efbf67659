package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/testkit/archivetest"
)

func TestFolder_KeepsTheContract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "archive")
	archivetest.Run(t, archive.NewFolder(dir), func(name string) []byte {
		b, _ := os.ReadFile(filepath.Join(dir, name)) // it may not exist
		return b
	})
	left, err := filepath.Glob(filepath.Join(dir, "*", ".part-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}
