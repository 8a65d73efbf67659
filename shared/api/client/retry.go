package client

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

const (
	// maxRetryAfter is the longest wait that a server can ask for. The service's own window is a minute.
	maxRetryAfter = 5 * time.Minute
	// maxLimited is how often one request waits for the rate limit: others of the organization may be faster.
	maxLimited = 10
)

// recover prepares the next try after err: it renews the token or waits. It returns an error if there is no next try.
func (s *sending) recover(ctx context.Context, err error, try int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	e, answered := errors.AsType[*Error](err)
	switch {
	case !answered:
		return s.waitForConnection(ctx, err, try)
	case e.Status == http.StatusUnauthorized && !s.renewed && !s.r.Public:
		s.renewed = true
		if renewal := s.c.renew(ctx, s.token); renewal != nil {
			return renewal
		}
		return nil
	case e.Status == http.StatusTooManyRequests && try < maxLimited:
		return s.waitForLimit(ctx, e)
	case s.mayPass(e.Status) && s.isRepeatable() && try < maxTries:
		return s.c.o.Clock.Sleep(ctx, time.Second<<(try-1))
	}
	return err
}

// mayPass reports whether a status may be another one in a moment: a server is missing, or, after a lost connection,
// the first try of a write still runs. The service answers 409 to a repeat meanwhile.
func (s *sending) mayPass(status int) bool {
	return status == http.StatusBadGateway || status == http.StatusServiceUnavailable ||
		status == http.StatusGatewayTimeout || status == http.StatusConflict && s.wasLost
}

// isRepeatable reports whether the request may be sent again if its first try may have acted.
func (s *sending) isRepeatable() bool {
	return s.r.Method == http.MethodGet || s.r.Method == http.MethodHead || s.hasKey()
}

func (s *sending) waitForConnection(ctx context.Context, err error, try int) error {
	if _, lost := errors.AsType[*LostError](err); !lost || try >= maxTries-1 {
		return err
	}
	if !s.isRepeatable() {
		return err
	}
	s.wasLost = true
	wait := time.Second << (try - 1)
	s.c.o.Notice(fmt.Sprintf("%v; trying again in %d s", err, int(wait.Seconds())))
	return s.c.o.Clock.Sleep(ctx, wait)
}

// waitForLimit waits as long as Retry-After says, else until the next minute by the service's clock: its limit counts
// clock minutes.
func (s *sending) waitForLimit(ctx context.Context, e *Error) error {
	wait := s.c.retryAfter(e.header)
	if wait > maxRetryAfter {
		return fmt.Errorf("%w: the service asks to wait %s: try again then", e, wait.Round(time.Second))
	}
	s.c.o.Notice(fmt.Sprintf("The organization's limit of requests a minute is reached; going on in %d s",
		int(wait.Seconds())))
	return s.c.o.Clock.Sleep(ctx, wait)
}

func (c *Client) retryAfter(h http.Header) time.Duration {
	now, after := c.Now(), h.Get("Retry-After")
	if n, err := strconv.Atoi(after); err == nil && n >= 0 {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(after); err == nil {
		return max(at.Sub(now), time.Second)
	}
	return now.Truncate(time.Minute).Add(time.Minute + time.Second).Sub(now)
}
