package local

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
)

// DemoPasswordFile is the file with the password of the demo login, in the folder of the service.
const DemoPasswordFile = "demo-password"

// DemoPassword reads the password of the demo login from the folder of the service. It makes a random one if there is
// none. Only the owner of the file may read it. Somebody who prefers another password writes it into the file: the
// next start sets it.
func DemoPassword(dir string) (string, error) {
	path := filepath.Join(dir, DemoPasswordFile)
	b, err := seal.ReadPrivate(path)
	if errors.Is(err, fs.ErrNotExist) {
		b, err = seal.CreatePrivate(path, []byte(newDemoPassword()+"\n"))
	}
	if err != nil {
		return "", fmt.Errorf("the password of the demo: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// explainDemoPassword returns the error of making the demo user, with the way out if its password is not acceptable.
func (s *Service) explainDemoPassword(err error) error {
	if !fault.Is(err, fault.Invalid) {
		return fmt.Errorf("make the demo user: %w", err)
	}
	return fmt.Errorf("the password of the demo in %s is not acceptable: %w: write another one into the file, or "+
		"delete the file for a random one", filepath.Join(s.dir, DemoPasswordFile), err)
}

// newDemoPassword returns a random password of 100 bits in four groups, which a person can type and which needs no
// quotes in a shell.
func newDemoPassword() string {
	const size, group = 20, 5
	letters := []byte(strings.ToLower(rand.Text()[:size]))
	groups := make([]string, 0, size/group)
	for g := range slices.Chunk(letters, group) {
		groups = append(groups, string(g))
	}
	return strings.Join(groups, "-")
}
