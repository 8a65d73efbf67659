package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"hash/crc32"
	"strings"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// A personal access token is <mark><30 random characters><6 characters of a checksum>, in base 62. The random part has
// 178 bits, so it cannot be guessed from its plain hash. The checksum lets a mistyped or invented token be refused
// without a read of the store, and lets scanners for leaked secrets recognize a token.
const (
	patMark   = "lampp_"
	patRandom = 30
	patCheck  = 6
	patLength = len(patMark) + patRandom + patCheck

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewPAT returns a new secret of a personal access token.
func NewPAT() string {
	return appendChecksum(patMark + randomLetters(patRandom, rand.Read))
}

// randomLetters returns n random characters of base 62. It discards bytes from 248 on, because 256 is no multiple of 62
// and some characters would be more frequent.
func randomLetters(n int, read func([]byte) (int, error)) string {
	const fair = 256 - 256%len(base62)
	out, drawn := make([]byte, 0, n), make([]byte, n)
	for len(out) < n {
		_, _ = read(drawn) // crypto/rand never fails
		for _, c := range drawn {
			if int(c) < fair && len(out) < n {
				out = append(out, base62[int(c)%len(base62)])
			}
		}
	}
	return string(out)
}

// appendChecksum appends the checksum of s.
func appendChecksum(s string) string {
	sum := crc32.ChecksumIEEE([]byte(s))
	var check [patCheck]byte
	for i := patCheck - 1; i >= 0; i-- {
		check[i] = base62[sum%uint32(len(base62))]
		sum /= uint32(len(base62))
	}
	return s + string(check[:])
}

// IsPAT reports whether a credential has the mark of a personal access token.
func IsPAT(credential string) bool { return strings.HasPrefix(credential, patMark) }

// ParsePAT returns the stored hash of a personal access token. A text with another form or a wrong checksum is
// fault.Unauthenticated.
func ParsePAT(secret string) (hash string, err error) {
	if len(secret) != patLength || !IsPAT(secret) {
		return "", errPAT()
	}
	for i := len(patMark); i < patLength; i++ {
		if strings.IndexByte(base62, secret[i]) < 0 {
			return "", errPAT()
		}
	}
	if appendChecksum(secret[:patLength-patCheck]) != secret {
		return "", errPAT()
	}
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:]), nil
}

func errPAT() error {
	return fault.New(fault.Unauthenticated, "the personal access token is invalid: its form or its checksum is wrong")
}

// PAT is a stored personal access token; its key is the hash of its secret. It authenticates its user, with the user's
// current grants.
type PAT struct {
	ID    string `json:"id"` // pat_…
	User  string `json:"user"`
	Name  string `json:"name"`
	Last4 string `json:"last4"`
	// User.Epoch at its creation; ending all sessions also ends the tokens of older epochs
	Epoch int64 `json:"epoch"`
	// like Session.SSO of the session that made it: it works in that organization only
	SSO     string    `json:"sso,omitempty"`
	MFA     bool      `json:"mfa,omitempty"` // the session that made it had proved a second factor
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Used    int64     `json:"used,omitempty"` // Unix seconds of the last use, to the hour
}

// Live reports whether the token is valid at now, in a store that was last restored at epoch.
func (t PAT) Live(u User, now, epoch time.Time) bool {
	return t.User == u.ID && t.Epoch == u.Epoch && !u.Disabled && now.Before(t.Expires) && !t.Created.Before(epoch)
}

// PATPrefix is the prefix of the partitions of personal access tokens.
const PATPrefix = "PAT#"

// PATKey returns the key of the token with a hash.
func PATKey(hash string) table.Key { return table.Key{PK: PATPrefix + hash, SK: "T"} }

// PATEntry is a token in its user's list.
type PATEntry struct {
	ID    string `json:"id"`
	Hash  string `json:"hash"`
	Name  string `json:"name"`
	Epoch int64  `json:"epoch"`
	Due   string `json:"due,omitempty"` // day when its expiry is announced
}

// PATListPrefix is the prefix of the sort keys of a user's list of tokens. The counter of created tokens sorts before
// them, so that a query of both reads it first. New tokens are written on the condition that it has not changed.
const (
	PATListPrefix = "PAT#"
	patMade       = "PAT"
)

// PATListKey returns the key of a token in a user's list.
func PATListKey(user, token string) table.Key {
	return table.Key{PK: UserPrefix + user, SK: PATListPrefix + token}
}

// PATMadeKey returns the key of the counter of a user's created tokens.
func PATMadeKey(user string) table.Key { return table.Key{PK: UserPrefix + user, SK: patMade} }

const (
	patNotice = 7 * 24 * time.Hour // how long before its expiry the user is told
	patShort  = 8 * 24 * time.Hour // tokens with a shorter lifetime expire without announcement
)

// Due returns the day when the expiry of the token is announced, or "" if it is not.
func (t PAT) Due() string {
	if t.Expires.Sub(t.Created) < patShort {
		return ""
	}
	return PATDay(t.Expires.Add(-patNotice))
}

// PATDay returns the day of a time, in the form of Due.
func PATDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// PATNotice is a token whose expiry is to be announced.
type PATNotice struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// PATDuePrefix is the prefix of the partitions of announcements of a day.
const PATDuePrefix = "PATDUE#"

// PATDueKey returns the key of the announcement for a token on a day.
func PATDueKey(day, token string) table.Key { return table.Key{PK: PATDuePrefix + day, SK: token} }
