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

// refreshToken is <mark><session>.<generation>.<secret>.<tag>. The tag shows that we issued it: without it, whoever knows
// a session's id could make up an old generation and have the session ended for reuse.
type refreshToken struct {
	session string
	gen     int64
	secret  string
}

func newRefreshToken(session string, gen int64) refreshToken {
	return refreshToken{session, gen, rand.Text()}
}

func (t refreshToken) parts() []string {
	return []string{t.session, strconv.FormatInt(t.gen, 10), t.secret}
}

func (t refreshToken) tag(pepper []byte) string {
	return identity.Digest(pepper, append([]string{"refresh-tag"}, t.parts()...)...)[:16]
}

// hash returns what is stored of the token.
func (t refreshToken) hash(pepper []byte) string {
	return identity.Digest(pepper, append([]string{"refresh"}, t.parts()...)...)
}

// text returns the token as the client gets it.
func (t refreshToken) text(pepper []byte) string {
	return refreshTokenMark + strings.Join(append(t.parts(), t.tag(pepper)), ".")
}

// parseRefreshToken reads a token that we issued; anything else is refused.
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
	if subtle.ConstantTimeCompare([]byte(t.text(pepper)), []byte(text)) != 1 {
		return refreshToken{}, errRefreshToken()
	}
	return t, nil
}

// errRefreshToken returns the one answer to a refresh token that is forged, used, of a session that is over, or too old.
func errRefreshToken() error {
	return fault.New(fault.Unauthenticated, "refreshToken: invalid, used or expired; log in again")
}
