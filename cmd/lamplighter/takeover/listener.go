// Package takeover lets a program take the place of another in the same process without the loss of a request: `make
// run` starts a first stage that links no SDK of a cloud, and replaces it when the complete program is compiled.
//
// The successor inherits the listening socket, so new connections wait until it accepts them. It inherits open
// connections too, as soon as no request is running on them. A client that keeps its connection sees no end of it.
package takeover

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

// Listener is a TCP listener that keeps connections open for a successor.
type Listener struct {
	*net.TCPListener

	mu      sync.Mutex
	conns   map[*conn]bool
	leaving bool
	left    []*conn       // kept for the successor
	changed chan struct{} // closed and replaced when a connection goes
}

// NewListener returns ln with support for a takeover. Call Attach with its server before Serve.
func NewListener(ln *net.TCPListener) *Listener {
	return &Listener{TCPListener: ln, conns: map[*conn]bool{}, changed: make(chan struct{})}
}

// Accept returns the next connection. During a takeover it keeps the connection for the successor and returns
// net.ErrClosed.
func (l *Listener) Accept() (net.Conn, error) {
	tcp, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	c := &conn{TCPConn: tcp, l: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaving {
		l.left = append(l.left, c)
		return nil, net.ErrClosed
	}
	l.conns[c] = true
	return c, nil
}

// Close closes the socket. During a takeover it only ends Accept, and the socket is kept for the successor.
func (l *Listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.leaving {
		return l.SetDeadline(time.Unix(1, 0))
	}
	return l.TCPListener.Close()
}

// Attach makes the listener follow the requests of the server: it sets ConnState and ConnContext and wraps Handler.
func (l *Listener) Attach(server *http.Server) {
	next := server.Handler
	server.ConnState = watchConn
	server.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		return context.WithValue(ctx, connKey{}, c)
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ours := r.Context().Value(connKey{}).(*conn); ours {
			c.beginRequest()
		}
		next.ServeHTTP(w, r)
	})
}

// connKey is the key of the context value that holds the connection of a request.
type connKey struct{}

// watchConn follows the states of a connection.
func watchConn(nc net.Conn, state http.ConnState) {
	c, ours := nc.(*conn)
	switch {
	case !ours:
	case state == http.StateIdle:
		c.endRequest()
	case state == http.StateClosed || state == http.StateHijacked:
		c.finish(state == http.StateClosed)
	}
}

// Leave ends the server: running requests are answered, and the socket and open connections are kept for the
// successor. It returns the cause of ctx if ctx ends before the last answer.
func (l *Listener) Leave(ctx context.Context, server *http.Server) error {
	l.mu.Lock()
	l.leaving = true
	var open []*conn
	for c := range l.conns {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		c.keepUnlessBusy()
	}
	return errors.Join(server.Shutdown(ctx), l.awaitNone(ctx))
}

// awaitNone waits until the server has no connection left. It returns the cause of ctx if ctx ends first.
func (l *Listener) awaitNone(ctx context.Context) error {
	for {
		l.mu.Lock()
		n, changed := len(l.conns), l.changed
		l.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// forget removes the connection from those of the server, and keeps it for the successor if keep is true.
func (l *Listener) forget(c *conn, keep bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.conns[c] {
		return
	}
	delete(l.conns, c)
	if keep {
		l.left = append(l.left, c)
	}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Listener) isLeaving() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaving
}

var _ net.Listener = (*Listener)(nil)
