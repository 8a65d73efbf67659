package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"lamplighter.dev/shared/api/client"
)

// The exit codes. Scripts depend on them: docs/lamp.md lists them.
const (
	exitFailed      = 1   // the service or the user refused, or something failed
	exitMisused     = 2   // the command line is wrong, or there is no terminal to ask
	exitPartly      = 3   // a part failed
	exitSignedOut   = 4   // sign in
	exitNotFound    = 5   // there is no such thing, or the user may not see it
	exitTimedOut    = 6   // --wait took longer than --timeout; the work continues
	exitInterrupted = 130 // Ctrl-C
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error
}

// Error returns the text of the error.
func (e *exitError) Error() string { return e.err.Error() }

// Unwrap returns the error.
func (e *exitError) Unwrap() error { return e.err }

func fail(code int, format string, args ...any) error {
	return &exitError{code, fmt.Errorf(format, args...)}
}

func misused(format string, args ...any) error { return fail(exitMisused, format, args...) }

// codeOf returns the exit code of a result.
func (a *app) codeOf(ctx context.Context, err error) int {
	own, isOwn := errors.AsType[*exitError](err)
	switch {
	case err == nil || isClosedPipe(err):
		return 0
	case isOwn:
		return own.code
	case ctx.Err() != nil:
		return exitInterrupted
	case errors.Is(err, client.ErrSignedOut) || client.IsStatus(err, http.StatusUnauthorized):
		return exitSignedOut
	case client.IsStatus(err, http.StatusNotFound):
		return exitNotFound
	case !a.ran: // cobra refused the command line
		return exitMisused
	}
	return exitFailed
}
