package sessions

import (
	"crypto/rand"
	"crypto/subtle"
	"strconv"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	refreshTokenMark  = "lampr_"
	maxRefreshToken   = 160
	refreshTokenParts = 4
)

// refreshToken is <mark><session>.<generation>.<secret>.<tag>. The tag proves that this service issued it. Without it,
// anyone who knows the ID of a session could make up an old generation, and so have the session ended for reuse.
type refreshToken struct {
	session string
	gen     int64
	secret  string
}

func newRefreshToken(session string, gen int64) refreshToken {
	return refreshToken{session, gen, rand.Text()}
}

func (t refreshToken) signedParts() []string {
	return []string{t.session, strconv.FormatInt(t.gen, 10), t.secret}
}

func (t refreshToken) authenticationTag(pepper []byte) string {
	return identity.Digest(pepper, append([]string{"refresh-tag"}, t.signedParts()...)...)[:16]
}

// storedHash returns the stored form of the token.
func (t refreshToken) storedHash(pepper []byte) string {
	return identity.Digest(pepper, append([]string{"refresh"}, t.signedParts()...)...)
}

// clientText returns the token as clients receive it.
func (t refreshToken) clientText(pepper []byte) string {
	return refreshTokenMark + strings.Join(append(t.signedParts(), t.authenticationTag(pepper)), ".")
}

// parseRefreshToken parses and authenticates a token.
func parseRefreshToken(text string, pepper []byte) (refreshToken, error) {
	body, marked := strings.CutPrefix(text, refreshTokenMark)
	parts := strings.Split(body, ".")
	if !marked || len(text) > maxRefreshToken || len(parts) != refreshTokenParts {
		return refreshToken{}, errRefreshToken()
	}
	gen, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return refreshToken{}, errRefreshToken()
	}
	t := refreshToken{parts[0], gen, parts[2]}
	if subtle.ConstantTimeCompare([]byte(t.clientText(pepper)), []byte(text)) != 1 {
		return refreshToken{}, errRefreshToken()
	}
	return t, nil
}

// errRefreshToken returns the error for every refresh token that is forged, used, expired, or of a session that has
// ended.
func errRefreshToken() error {
	return fault.New(fault.Unauthenticated, "refreshToken: invalid, used or expired; log in again")
}
