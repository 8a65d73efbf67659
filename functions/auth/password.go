package auth

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"lamplighter.dev/shared/foundation/fault"
)

// These constants set the cost of a hash: argon2id with 19 MiB, two passes, one lane, the minimum of OWASP's cheat
// sheet.
const (
	memoryKiB = 19456
	passes    = 2
	lanes     = 1
	saltSize  = 16
	hashSize  = 32
)

// passwordHasher hashes passwords. The number of concurrent hashes is the number of processors: each needs 19 MiB and
// a processor.
type passwordHasher struct {
	slots chan struct{}
	dummy string // is verified against when there is no account, so that time does not tell
	idKey func(password, salt []byte, passes, memory uint32, lanes uint8, size uint32) []byte
}

func newPasswordHasher() *passwordHasher {
	dummy := phc{memoryKiB, passes, lanes, make([]byte, saltSize), make([]byte, hashSize)}
	return &passwordHasher{make(chan struct{}, runtime.GOMAXPROCS(0)), dummy.String(), argon2.IDKey}
}

// hashPassword returns the PHC string of a password.
func (h *passwordHasher) hashPassword(ctx context.Context, password string) (string, error) {
	c := phc{memoryKiB, passes, lanes, make([]byte, saltSize), nil}
	rand.Read(c.salt) //nolint:errcheck // crypto/rand never fails
	var err error
	c.sum, err = h.derive(ctx, password, c)
	return c.String(), err
}

// verifyPassword reports whether password matches encoded, and whether encoded is weaker than the hashes made today.
// An empty encoded stands for a missing account: it takes the same time and never matches.
func (h *passwordHasher) verifyPassword(ctx context.Context, password, encoded string) (right, weak bool, err error) {
	known := encoded != ""
	if !known {
		encoded = h.dummy
	}
	c, err := parsePHC(encoded)
	if err != nil {
		return false, false, err
	}
	sum, err := h.derive(ctx, password, c)
	if err != nil {
		return false, false, err
	}
	same := subtle.ConstantTimeCompare(sum, c.sum) == 1
	return same && known, c.memory < memoryKiB || c.passes < passes, nil
}

// derive computes a hash. It waits for a free slot at most until ctx ends.
func (h *passwordHasher) derive(ctx context.Context, password string, c phc) ([]byte, error) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	case <-ctx.Done():
		return nil, fault.NewWithCause(fault.Unavailable, ctx.Err(), "too many log-ins at once: try again")
	}
	return h.idKey([]byte(norm.NFKC.String(password)), c.salt, c.passes, c.memory, c.lanes, hashSize), nil
}

// phc is a hash with all parameters to compute it again.
type phc struct {
	memory, passes uint32
	lanes          uint8
	salt, sum      []byte
}

func (c phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, c.memory, c.passes, c.lanes,
		b64.EncodeToString(c.salt), b64.EncodeToString(c.sum))
}

func parsePHC(s string) (phc, error) {
	var c phc
	var v int
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[1] != "argon2id" {
		return c, fault.New(fault.Internal, "a stored password hash is not argon2id")
	}
	_, err := fmt.Sscanf(parts[2]+" "+parts[3], "v=%d m=%d,t=%d,p=%d", &v, &c.memory, &c.passes, &c.lanes)
	if err != nil || v != argon2.Version {
		return c, fault.NewWithCause(fault.Internal, err, "a stored password hash has other parameters")
	}
	if c.salt, err = base64.RawStdEncoding.DecodeString(parts[4]); err != nil {
		return c, fmt.Errorf("decode salt of a stored password hash: %w", err)
	}
	if c.sum, err = base64.RawStdEncoding.DecodeString(parts[5]); err != nil {
		return c, fmt.Errorf("decode sum of a stored password hash: %w", err)
	}
	return c, nil
}

// These constants are the lengths of a password in characters after NFKC.
const (
	minPassword = 12
	maxPassword = 128
	rawPassword = 1024 // bytes; a longer one is not even looked at
)

// checkPassword refuses a password that is too short, too long, or easy to guess. There are no rules about its
// characters.
func checkPassword(password, address string) error {
	if len(password) > rawPassword || !utf8.ValidString(password) {
		return fault.New(fault.Invalid, "password: at most %d characters of UTF-8", maxPassword)
	}
	folded := norm.NFKC.String(password)
	n := utf8.RuneCountInString(folded)
	switch {
	case n < minPassword || n > maxPassword:
		return fault.New(fault.Invalid, "password: %d characters; %d to %d are allowed", n, minPassword, maxPassword)
	case strings.ContainsFunc(folded, unicode.IsControl):
		return fault.New(fault.Invalid, "password: it has a control character in it")
	case strings.EqualFold(folded, address) || isGuessable(folded):
		return fault.New(fault.Invalid, "password: it is too easy to guess; a few unrelated words make a good one")
	}
	return nil
}

// isGuessable reports whether a password has few different letters, is a run on the keyboard, or is a common one.
func isGuessable(password string) bool {
	seen := map[rune]bool{}
	for _, r := range strings.ToLower(password) {
		seen[r] = true
	}
	if len(seen) < 5 {
		return true
	}
	bare := strings.TrimRightFunc(strings.ToLower(password), func(r rune) bool { return !unicode.IsLetter(r) })
	for _, w := range commonPasswords {
		if w == strings.ToLower(password) || w == bare {
			return true
		}
	}
	return false
}

// commonPasswords are passwords of 12 and more characters, or the words before their digits, at the top of lists of
// leaked passwords.
var commonPasswords = []string{
	"password", "passwort", "qwertyuiop", "qwertyuiopas", "qwertyuiop[]", "qwertzuiopas", "asdfghjkl", "zxcvbnm",
	"123456789012", "1234567890123", "12345678901234", "123456789012345", "1234567890123456", "0123456789012",
	"1q2w3e4r5t6y", "1qaz2wsx3edc", "1qaz2wsx3edc4rfv", "q1w2e3r4t5y6", "abcdefghijkl", "abcdefghijklm", "abc123abc123",
	"passwordpassword", "password1password", "iloveyouiloveyou", "letmeinletmein", "adminadminadmin", "administrator",
	"changeme", "changemechangeme", "welcome", "welcomewelcome", "correcthorsebatterystaple", "lamplighter",
	"p@ssw0rdp@ssw0rd", "password!password",
}
