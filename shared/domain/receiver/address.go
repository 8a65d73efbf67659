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

// MaxAddress is the maximum length of an address, in bytes.
const MaxAddress = 2048

const (
	maxAnswer  = 16 << 10 // bytes read of a response
	maxMessage = 200      // characters of a response in a message
	longest    = time.Hour
	shortest   = 4 // minimum bytes of a secret that is redacted
)

// CheckAddress returns an error for an address that may not be called. field is the name in the error. The error does
// not contain the address, which may contain a secret.
func CheckAddress(p ssrfguard.Policy, field, address string) error {
	if err := p.CheckAddress(address); err != nil {
		return fault.NewWithCause(fault.Invalid, err, "%s: %s", field, fault.Message(err))
	}
	return nil
}

// Mask returns an address as it is shown to users without the right to change it: its host and the last four
// characters, which distinguish it from other addresses of the host.
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

// Exchange is a request to a receiver and its response, with at most 16 KiB of the body.
type Exchange struct {
	Status     int
	Body       []byte
	RetryAfter time.Duration
	Demands    string // the header WWW-Authenticate
	Message    string // the first characters of the body, cleaned
}

// Do makes a request with c, which comes from ssrfguard. It returns fault.Unavailable when the receiver does not
// answer, and fault.Invalid when the address may not be called. A response of any status is not an error.
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
	x := Exchange{
		Status: resp.StatusCode, Body: body, RetryAfter: retryAfter(resp, now.Now()),
		Demands: resp.Header.Get("WWW-Authenticate"),
	}
	return x.Without(r.URL.String(), r.URL.RequestURI(), r.Header.Get("Authorization")), nil
}

// failure returns the reason of a missing response, without the address, which net/http includes in full.
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

// retryAfter returns the requested pause of a busy receiver (RFC 9110, 10.2.3), at most an hour.
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

// Without returns the exchange with secrets removed from its message, in case the receiver echoed them. A message
// never contains a secret or an address.
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

// Answer returns the delivery result of the exchange. 2xx is success. All other statuses are failures, also
// redirects, which are not followed. 410 is permanent.
func (x Exchange) Answer() (delivery.Answer, error) {
	a := delivery.Answer{
		Status: x.Status, Message: x.Message, RetryAfter: x.RetryAfter,
		Gone: x.Status == http.StatusGone,
	}
	switch x.Status / 100 {
	case 2:
		return a, nil
	case 3:
		return a, fault.New(fault.Unavailable, "the receiver answered with status %d: redirects are not followed, "+
			"name the address itself", x.Status)
	}
	return a, fault.New(fault.Unavailable, "the receiver answered with status %d", x.Status)
}
