package checks

import (
	"bytes"
	"encoding/pem"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// topLevel are the names at the top of the repository. Everything else lives in one of these folders.
var topLevel = []string{
	".ci", ".gitignore", ".golangci.yml", ".goreleaser.yaml", "CONTRIBUTING.md", "Makefile", "README.md", "cdk.json",
	"cmd", "docs", "events", "functions", "go.mod", "go.sum", "infra", "openapi.yaml", "samconfig.toml",
	"shared", "statemachines",
	"template.yaml",
}

// keptPrivately maps files that look like files of one person or one machine to the reason why they are committed.
var keptPrivately = map[string]string{
	"shared/testkit/samltest/testdata/idp.pem": "the identity provider of tests signs with it; no service trusts it",
}

// privateName matches names of files that hold keys, stores, settings or logs of one machine.
var privateName = regexp.MustCompile(`(?i)(\.(pem|key|p8|p12|pfx|jks|keystore|kdbx|ppk|db|sqlite3?|log|swp|bak|` +
	`orig|rej|test|out|prof)|^\.env(\..*)?|^id_(rsa|dsa|ecdsa|ed25519)|^\.DS_Store|^demo-password|~)$`)

// programs are the first bytes of compiled programs, by format.
var programs = map[string]string{"ELF": "\x7fELF", "Mach-O": "\xcf\xfa\xed\xfe", "Windows": "MZ\x90\x00"}

// privateKey matches the beginning of a private key in PEM, also inside of JSON or of strings of Go. Shorter blocks are
// texts of tests.
var privateKey = regexp.MustCompile(
	"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?:\\\\[nr]|[\\s\"+`])*(?:[A-Za-z-]+: .*\\s+)*[A-Za-z0-9+/]{40}")

// objection returns the reason why a file must not be committed, or "".
func objection(path string, text []byte) string {
	top, _, _ := strings.Cut(path, "/")
	switch {
	case !slices.Contains(topLevel, top):
		return "the top level is fixed: move it into one of the folders, or add it to topLevel and say why"
	case keptPrivately[path] != "":
		return ""
	case privateName.MatchString(filepath.Base(path)):
		return "its name is that of a key, a store, a setting or a log of one machine: delete it, or name it in " +
			"keptPrivately"
	case privateKey.Match(text):
		return "it holds a private key: delete it and replace the key; a test makes its own key"
	}
	for format, magic := range programs {
		if bytes.HasPrefix(text, []byte(magic)) {
			return "it is a compiled program (" + format + "): build/ is the folder for those"
		}
	}
	return ""
}

// committable returns the paths of the files that are committed or that `git add --all` would commit.
func committable(t *testing.T) []string {
	t.Helper()
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir, cmd.Stderr = "../../..", os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list the files of the repository: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

func TestTree_HoldsNoKeysProgramsOrStrayFiles(t *testing.T) {
	paths := committable(t)
	for _, path := range paths {
		text, err := os.ReadFile(filepath.Join("../../..", path)) //nolint:gosec // of this repository
		if os.IsNotExist(err) {
			continue // deleted, and not yet committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if why := objection(path, text); why != "" {
			t.Errorf("%s: %s", path, why)
		}
	}
	for path := range keptPrivately {
		if !slices.Contains(paths, path) {
			t.Errorf("keptPrivately names %s, which does not exist", path)
		}
	}
	if len(paths) < 1000 {
		t.Errorf("git lists %d files only", len(paths))
	}
}

func TestObjection_RefusesFilesThatBelongInNoCommit(t *testing.T) {
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: bytes.Repeat([]byte{7}, 48)}))
	refused := map[string]string{
		"k.pem": key, "notes.txt": "", "lamplighter": "\x7fELF", "coverage/a.go": "", "docs/k.pem": "",
		"docs/key.md":    "See:\n" + key,
		"events/a.json":  `{"private_key":"` + strings.ReplaceAll(strings.TrimSpace(key), "\n", `\n`) + `"}`,
		"infra/store.db": "", "cmd/.env": "A=B", "cmd/.env.local": "", "shared/id_ed25519": "", "cmd/x/main": "\x7fELF",
		"docs/ec.txt": strings.ReplaceAll(key, "PRIVATE", "EC PRIVATE"),
	}
	for _, path := range slices.Sorted(maps.Keys(refused)) {
		if objection(path, []byte(refused[path])) == "" {
			t.Errorf("%s is accepted", path)
		}
	}
	public := strings.ReplaceAll(key, "PRIVATE", "PUBLIC")
	for path, text := range map[string]string{
		"go.mod": "", "docs/keys.md": public, "shared/foundation/seal/keyfile.go": "package seal", "docs/out.md": "",
		"docs/short.md": "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", ".ci/run": "#!/bin/sh",
		"shared/testkit/samltest/testdata/idp.pem": key,
	} {
		if why := objection(path, []byte(text)); why != "" {
			t.Errorf("%s is refused: %s", path, why)
		}
	}
}
