package archive_test

import (
	"os"
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/testkit/archivetest"
)

func TestFolderVault_KeepsTheContract(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "vault")
	archivetest.RunVault(t, archive.NewFolderVault(dir))
	info, err := os.Stat(filepath.Join(dir, "nights", "a.jws"))
	if err != nil || info.Mode().Perm() != 0o400 {
		t.Errorf("a file can be written to: %v %v", info, err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "*", ".part-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left over: %v, %v", left, err)
	}
}
