package rest

import (
	"context"
	"net/http"
)

// maxCookies is how many cookies of one name are read. A browser sends several if they were set for several paths.
const maxCookies = 4

// CookieValues returns the values of the cookies with the name that came with the request of ctx, at most four. Outside
// of a request there are none. Cookies are not part of the interface description and not of the audit log.
func CookieValues(ctx context.Context, name string) []string {
	x, ok := ctx.Value(exchangeKey{}).(*exchange)
	if !ok {
		return nil
	}
	var out []string
	for _, c := range x.r.CookiesNamed(name) {
		if len(out) < maxCookies {
			out = append(out, c.Value)
		}
	}
	return out
}

// SetCookie adds a cookie to the answer of the request of ctx. An answer that is kept for an Idempotency-Key is kept
// without it. Outside of a request it does nothing.
func SetCookie(ctx context.Context, c *http.Cookie) {
	if x, ok := ctx.Value(exchangeKey{}).(*exchange); ok {
		http.SetCookie(x.ResponseWriter, c)
	}
}
