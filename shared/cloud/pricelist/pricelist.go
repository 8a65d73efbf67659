// Package pricelist reads public lists of prices over HTTP: whole, or with an error. Providers share it, for their
// lists are asked for alike though they look different.
package pricelist

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/clock"
)

// Reader gets lists. The zero value of every field but Clock is usable.
type Reader struct {
	Clock clock.Clock
	// Transport carries the requests; nil is http.DefaultTransport.
	Transport http.RoundTripper
	// Attempts is how often an address is asked; 5 when it is 0.
	Attempts int
	// Timeout bounds one attempt with its whole answer; 10 minutes when it is 0, for some lists have hundreds of
	// megabytes.
	Timeout time.Duration
}

const (
	firstPause  = time.Second
	longestWait = time.Minute // a longer Retry-After is left to the next night
)

// Read passes the answer to a GET of an address to read. It repeats the request after a temporary refusal (429, 5xx),
// or if the answer breaks off before read has read a byte. If the answer breaks off later, Read returns an error, and
// the bytes until then must be discarded.
func (r Reader) Read(ctx context.Context, address string, read func(io.Reader) error) error {
	attempts, pause := max(r.Attempts, 1), firstPause
	if r.Attempts == 0 {
		attempts = 5
	}
	for n := 1; ; n++ {
		wait, err := r.try(ctx, address, read)
		if err == nil || wait < 0 || n == attempts {
			return err
		}
		if wait = max(wait, pause); wait > longestWait {
			return err
		}
		if r.Clock.Sleep(ctx, wait) != nil {
			return err
		}
		pause *= 2
	}
}

// final is the wait behind an error that asking again does not help.
const final = time.Duration(-1)

// try asks once. With an error it returns how long to wait at least before the next try, or final.
func (r Reader) try(ctx context.Context, address string, read func(io.Reader) error) (time.Duration, error) {
	timeout := r.Timeout
	if timeout == 0 {
		timeout = 10 * time.Minute
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, http.NoBody)
	if err != nil {
		return final, fmt.Errorf("read prices: %w", err)
	}
	client := http.Client{Transport: r.Transport}
	res, err := client.Do(req)
	if err != nil {
		if whole, ok := errors.AsType[*url.Error](err); ok {
			err = whole.Err // without the address, which may contain a key
		}
		return 0, &cloud.Error{
			Class: cloud.Transient, Op: "prices", Code: "Unreachable",
			Message: req.URL.Host + ": " + err.Error(),
		}
	}
	defer res.Body.Close() //nolint:errcheck // it was read, or it was of no use
	if res.StatusCode != http.StatusOK {
		return refused(res)
	}
	body := &counted{Reader: res.Body}
	switch err = read(body); {
	case err == nil:
		return 0, nil
	case body.broken != nil && !errors.Is(body.broken, io.EOF):
		return final, fmt.Errorf("the answer broke off after %d bytes: %w", body.bytes, err)
	default:
		return final, err
	}
}

// refused makes the error of an answer that is none.
func refused(res *http.Response) (time.Duration, error) {
	text, err := io.ReadAll(io.LimitReader(res.Body, 300))
	if err != nil {
		text = []byte(err.Error())
	}
	e := &cloud.Error{Class: cloud.Invalid, Op: "prices", Code: res.Status, Message: string(text)}
	if res.StatusCode != http.StatusTooManyRequests && res.StatusCode < http.StatusInternalServerError {
		return final, e
	}
	e.Class = cloud.Throttled
	seconds, err := strconv.Atoi(res.Header.Get("Retry-After"))
	if err != nil {
		seconds = 0
	}
	return time.Duration(seconds) * time.Second, e
}

// counted counts the bytes that are read, and stores the error that ended the reading.
type counted struct {
	io.Reader
	bytes  int64
	broken error
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	if c.bytes += int64(n); err != nil {
		c.broken = err
	}
	return n, err
}
