package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

const keysUsage = `usage: lamplighter keys rotate [-dir DIR] [-now] [-revoke]
       lamplighter keys rotate -secrets [-dir DIR]
       lamplighter keys list [-dir DIR]
`

// keyChoices are the settings of `lamplighter keys`.
type keyChoices struct {
	command string
	dir     string
	secrets bool
	now     bool
	revoke  bool
}

// runKeys runs `lamplighter keys`, which lists and rotates the key files of a local service.
func runKeys(args []string, out io.Writer) error {
	if asked, err := printAsked(args, keysUsage, out); asked {
		return err
	}
	c, err := parseKeys(args, out)
	if err != nil {
		return ignoreHelp(err)
	}
	if err = c.change(out); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there are no keys in %s: name the folder of `lamplighter serve` with -dir", c.dir)
	}
	return err
}

// change lists or rotates the keys.
func (c keyChoices) change(out io.Writer) error {
	tokens := filepath.Join(c.dir, "keys", "tokens.pem")
	switch now := (clock.System{}).Now(); {
	case c.command == "list":
		states, err := token.KeyStates(tokens, now)
		return errors.Join(err, listKeys(out, states))
	case c.secrets:
		return rotateSecrets(out, filepath.Join(c.dir, "keys", "secrets.key"))
	default:
		states, err := token.RotateKeyFile(tokens, c.rotation(now))
		return errors.Join(err, listKeys(out, states))
	}
}

func parseKeys(args []string, out io.Writer) (keyChoices, error) {
	c := keyChoices{}
	if len(args) == 0 || args[0] != "rotate" && args[0] != "list" {
		return c, errCommand("lamplighter keys", args)
	}
	c.command = args[0]
	f := newCommandFlags("lamplighter keys " + c.command)
	f.StringVar(&c.dir, "dir", envOr("LAMPLIGHTER_DIR", ".lamplighter"), "folder of the service (LAMPLIGHTER_DIR)")
	if c.command == "rotate" {
		f.BoolVar(&c.secrets, "secrets", false,
			"the key of sealed secrets, instead of the one that signs access tokens")
		f.BoolVar(&c.now, "now", false, "the new key signs at once, not in an hour")
		f.BoolVar(&c.revoke, "revoke", false,
			"with -now: what the old keys have signed is refused at once; for a key that was stolen")
	}
	if err := f.parseArgs(args[1:], out); err != nil {
		return c, err
	}
	return c, c.check()
}

func (c keyChoices) check() error {
	switch {
	case c.secrets && (c.now || c.revoke):
		return errors.New("-now and -revoke are for the keys of access tokens: a key of secrets is used at once, and " +
			"the old ones still have to open what they sealed")
	case c.revoke && !c.now:
		return errors.New("-revoke needs -now: otherwise nothing would sign for an hour")
	}
	return nil
}

func (c keyChoices) rotation(now time.Time) token.Rotation {
	r := token.PlanRotation(now, c.now)
	if c.revoke {
		r.End = now
	}
	return r
}

func rotateSecrets(out io.Writer, path string) error {
	n, err := seal.RotateKeyFile(path)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(out,
		"%s has %d keys. The first seals what is new, once the service was started again; the others still open the "+
			"rest: keep them.\n", path, n)
	return err
}

// listKeys prints a line for each key.
func listKeys(out io.Writer, states []token.KeyState) error {
	var errs []error
	for _, s := range states {
		_, err := fmt.Fprintf(out, "%-8s %s  signs from %s, accepted until %s\n", s.State, s.ID,
			when(s.From, "the beginning"), when(s.Until, "further notice"))
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func when(t time.Time, otherwise string) string {
	if t.IsZero() {
		return otherwise
	}
	return t.UTC().Format(time.RFC3339)
}
