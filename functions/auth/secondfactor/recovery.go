package secondfactor

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	recoveryCount  = 10
	recoverySize   = 16 // characters of base32: 80 bits
	recoveryGroups = 4  // characters between hyphens
)

// recoveryCodes are the hashes of the unused recovery codes of a user. Each is a field, so that a code is used up by
// removing its field on the condition that it is there.
type recoveryCodes map[string]bool

// recoveryHash returns the stored form of a code. The pepper makes a stolen table useless. It is not the key that
// changes with each restore of the store: the codes must open the account then, too.
func (f Factors) recoveryHash(user, code string) string {
	return identity.Digest(f.Settings.Pepper, "recovery", user, code)
}

// newRecoveryCodes returns new codes of a user as the user sees them, and the write that replaces the old ones.
func (f Factors) newRecoveryCodes(user string) ([]string, table.Write, error) {
	shown, kept := make([]string, recoveryCount), recoveryCodes{}
	for i := range shown {
		code := strings.ToLower(rand.Text()[:recoverySize])
		kept[f.recoveryHash(user, code)] = true
		var groups []string
		for group := range slices.Chunk([]byte(code), recoveryGroups) {
			groups = append(groups, string(group))
		}
		shown[i] = strings.Join(groups, "-")
	}
	it, err := table.NewItem(identity.SecondFactorKey(user, recoveryName), kept)
	return shown, table.Put(it), err
}

// normalizeRecovery returns a code as it is hashed, or false for a text that is none. Upper case, blanks and hyphens
// are accepted, because people copy the codes from paper.
func normalizeRecovery(text string) (string, bool) {
	code := strings.ToLower(strings.NewReplacer("-", "", " ", "").Replace(text))
	return code, len(code) == recoverySize
}

// useRecoveryCode reports whether text is an unused recovery code of the user, and uses it up: of several requests with
// one code, one succeeds.
func (f Factors) useRecoveryCode(ctx context.Context, user, text string) (bool, error) {
	code, ok := normalizeRecovery(text)
	if !ok {
		return false, nil
	}
	field := f.recoveryHash(user, code)
	_, err := f.Table.Write(table.WithoutAttachment(within(ctx, user)), table.Update(
		identity.SecondFactorKey(user, recoveryName), []table.Change{table.Remove(field)}, table.Equal(field, true)))
	if _, unknown := errors.AsType[*table.ConditionError](err); unknown {
		return false, nil
	}
	return err == nil, fault.Wrap("use a recovery code of "+user, err)
}
