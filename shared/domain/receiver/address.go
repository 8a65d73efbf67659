package receiver

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/redact"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

// MaxAddress is how many bytes an address may have.
const MaxAddress = 2048

const (
	maxAnswer  = 16 << 10 // bytes that are read of an answer
	maxMessage = 200      // characters that are told of it
	longest    = time.Hour
	shortest   = 4 // bytes of a secret that is looked for
)

// CheckAddress refuses an address of a field that may not be called. The address is not repeated: there may be a
// secret in it.
func CheckAddress(p ssrfguard.Policy, field, address string) error {
	if err := p.CheckAddress(address); err != nil {
		return fault.NewWithCause(fault.Invalid, err, "%s: %s", field, fault.Message(err))
	}
	return nil
}

// Mask returns an address as it is shown to who may not change it: its host, and the last four characters of what
// follows, which tell it from others of the host.
func Mask(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	const shown = 4
	tail := strings.TrimPrefix(u.RequestURI(), "/")
	if len(tail) < 3*shown {
		tail = ""
	}
	return u.Scheme + "://" + u.Host + "/…" + tail[max(0, len(tail)-shown):]
}

// Exchange is a request to a receiver and the answer to it, with at most 16 KiB of its body.
type Exchange struct {
	Status     int
	Body       []byte
	RetryAfter time.Duration
	Demands    string // the header WWW-Authenticate
	Message    string // the first characters of the body, without what could harm
}

// Do makes a request by c, which comes from ssrfguard. Who does not answer is fault.Unavailable; an address that may
// not be called fault.Invalid. No status is an error.
func Do(c *http.Client, now clock.Clock, r *http.Request) (Exchange, error) {
	resp, err := c.Do(r) //nolint:gosec // c is ssrfguard's, which looks at each address that is dialled
	if err != nil {
		return Exchange{}, failure(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is read
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil {
		return Exchange{}, fault.NewWithCause(fault.Unavailable, err, "%s broke off its answer", r.URL.Host)
	}
	x := Exchange{Status: resp.StatusCode, Body: body, RetryAfter: retryAfter(resp, now.Now()),
		Demands: resp.Header.Get("WWW-Authenticate")}
	return x.Without(r.URL.String(), r.URL.RequestURI(), r.Header.Get("Authorization")), nil
}

// failure says why there was no answer, without the address: net/http repeats all of it.
func failure(err error) error {
	if fault.Is(err, fault.Invalid) {
		return fault.NewWithCause(fault.Invalid, withoutAddress(err), "%s", fault.Message(err))
	}
	why := "nobody answers there"
	if errors.Is(err, context.DeadlineExceeded) || isTimeout(err) {
		why = "there was no answer within 10 seconds"
	}
	return fault.NewWithCause(fault.Unavailable, withoutAddress(err), "%s", why)
}

func withoutAddress(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		return e.Err
	}
	return err
}

func isTimeout(err error) bool {
	e, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	return ok && e.Timeout()
}

// retryAfter reads what a receiver that is busy asks for (RFC 9110, 10.2.3), at most an hour.
func retryAfter(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}
	v := resp.Header.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, longest) //nolint:gosec // 31 bits
	}
	if at, err := http.ParseTime(v); err == nil {
		return min(max(at.Sub(now), 0), longest)
	}
	return 0
}

// Without returns the exchange without texts in its message, whoever has repeated them: nobody is told of a secret, or
// of what a receiver is reached by.
func (x Exchange) Without(secrets ...string) Exchange {
	text := string(x.Body)
	for _, s := range secrets {
		if len(s) >= shortest {
			text = strings.ReplaceAll(text, s, redact.Mark)
		}
	}
	x.Message = fault.CleanText(redact.WithoutSecrets(strings.TrimSpace(text)), maxMessage)
	return x
}

// Answer returns what the exchange means for a delivery: 2xx is success; a redirect, which is not followed, or any
// other status is not; 410 is for ever.
func (x Exchange) Answer() (delivery.Answer, error) {
	a := delivery.Answer{Status: x.Status, Message: x.Message, RetryAfter: x.RetryAfter,
		Gone: x.Status == http.StatusGone}
	switch x.Status / 100 {
	case 2:
		return a, nil
	case 3:
		return a, fault.New(fault.Unavailable, "the receiver answered with status %d: redirects are not followed, "+
			"name the address itself", x.Status)
	}
	return a, fault.New(fault.Unavailable, "the receiver answered with status %d", x.Status)
}
