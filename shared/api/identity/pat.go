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

// A personal access token is <mark><30 random letters><6 letters of a checksum over all before>, in base 62. The random
// part has 178 bits, so its plain hash cannot be guessed back. The checksum lets a mistyped or made-up token be refused
// without a look at the store, and tells a scanner of leaked secrets that what it found is one.
const (
	patMark   = "lampp_"
	patRandom = 30
	patCheck  = 6
	patLength = len(patMark) + patRandom + patCheck

	base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// NewPAT makes the secret of a personal access token.
func NewPAT() string {
	return appendChecksum(patMark + randomLetters(patRandom, rand.Read))
}

// randomLetters draws n letters of base 62. Bytes from 248 on are drawn again: 256 is no multiple of 62, and the first letters
// would come more often than the others.
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

// IsPAT reports whether a credential claims to be a personal access token.
func IsPAT(credential string) bool { return strings.HasPrefix(credential, patMark) }

// ParsePAT returns the hash under which a personal access token is stored. What is not spelled as one, or has another
// checksum, is fault.Unauthenticated.
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
	return fault.New(fault.Unauthenticated, "no personal access token of ours: its form or its checksum is wrong")
}

// PAT is a personal access token as it is stored, under the hash of its secret. It lets in as its user, with what the user
// may do at that moment.
type PAT struct {
	ID    string `json:"id"` // pat_…
	User  string `json:"user"`
	Name  string `json:"name"`
	Last4 string `json:"last4"`
	// User.Epoch when it was made; what ends every session ends the tokens of an older epoch too
	Epoch int64 `json:"epoch"`
	// as Session.SSO of the session that made it: it works in that organization only
	SSO     string    `json:"sso,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Used    int64     `json:"used,omitempty"` // Unix seconds of its last use, to the hour
}

// Live reports whether the token lets its user in at now, in a store that was last restored at epoch.
func (t PAT) Live(u User, now, epoch time.Time) bool {
	return t.User == u.ID && t.Epoch == u.Epoch && !u.Disabled && now.Before(t.Expires) && !t.Created.Before(epoch)
}

// PATPrefix begins the partitions of personal access tokens.
const PATPrefix = "PAT#"

// PATKey returns where the token of a hash is.
func PATKey(hash string) table.Key { return table.Key{PK: PATPrefix + hash, SK: "T"} }

// PATEntry is a token in its user's list, which leads to where the token is.
type PATEntry struct {
	ID    string `json:"id"`
	Hash  string `json:"hash"`
	Name  string `json:"name"`
	Epoch int64  `json:"epoch"`
	Due   string `json:"due,omitempty"` // the day on which its end is announced
}

// PATListPrefix begins the sort keys of a user's list of tokens. Below it in the same order, so that whoever reads both
// reads it first, is the count of those made: a new one is written on condition of it.
const (
	PATListPrefix = "PAT#"
	patMade       = "PAT"
)

// PATListKey returns where a user's list of tokens names one.
func PATListKey(user, token string) table.Key {
	return table.Key{PK: UserPrefix + user, SK: PATListPrefix + token}
}

// PATMadeKey returns where it is counted how many tokens a user has made.
func PATMadeKey(user string) table.Key { return table.Key{PK: UserPrefix + user, SK: patMade} }

const (
	patNotice = 7 * 24 * time.Hour // how long before its end a token's user is told
	patShort  = 8 * 24 * time.Hour // a token that lives shorter ends unannounced: its user has just made it
)

// Due returns the day on which the end of the token is announced, "" when it is not.
func (t PAT) Due() string {
	if t.Expires.Sub(t.Created) < patShort {
		return ""
	}
	return PATDay(t.Expires.Add(-patNotice))
}

// PATDay names the day of a moment, as Due does.
func PATDay(at time.Time) string { return at.UTC().Format(time.DateOnly) }

// PATNotice is a token whose end is to be announced.
type PATNotice struct {
	ID   string `json:"id"`
	Hash string `json:"hash"`
}

// PATDuePrefix begins the partitions of what is to be announced on a day.
const PATDuePrefix = "PATDUE#"

// PATDueKey returns where the end of a token is announced on a day.
func PATDueKey(day, token string) table.Key { return table.Key{PK: PATDuePrefix + day, SK: token} }
