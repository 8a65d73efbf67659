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

// NewListener returns ln with support for a takeover. Its server must have its Watch as ConnState.
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

// Watch is the ConnState of the http.Server.
func (l *Listener) Watch(nc net.Conn, state http.ConnState) {
	c, ours := nc.(*conn)
	switch {
	case !ours:
	case state == http.StateIdle:
		c.setIdle()
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

// conn is a connection of a Listener.
type conn struct {
	*net.TCPConn
	l *Listener

	mu       sync.Mutex
	busy     bool          // the server has read of a request, and not answered it
	reading  chan struct{} // closed when the Read under way has returned; nil: none is
	kept     bool          // for the successor
	ahead    []byte        // the byte of the next request that the server read while it answered
	answered bool          // the server has answered the last request that it read
	unread   []byte        // bytes that the successor reads first
}

// errKept ends the reads from a connection that is kept for the successor. It wraps net.ErrClosed. The http.Server
// answers any error of a first read by 400, except for io.EOF, timeouts and *net.OpError of a read.
var errKept = &net.OpError{Op: "read", Err: net.ErrClosed}

// Read returns the bytes that the client sends. It returns errKept once the connection is kept for the successor.
func (c *conn) Read(p []byte) (int, error) {
	c.mu.Lock()
	if c.kept {
		c.mu.Unlock()
		return 0, errKept
	}
	done := make(chan struct{})
	c.reading = done
	c.mu.Unlock()
	n, err := c.TCPConn.Read(p)
	c.mu.Lock()
	defer c.mu.Unlock()
	defer close(done)
	c.reading = nil
	if c.kept {
		c.unread = append(c.unread, p[:n]...)
		return 0, errKept
	}
	c.busy = c.busy || n > 0
	c.noteRead(p, n)
	return n, err
}

// setIdle records that the last request is answered.
func (c *conn) setIdle() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy, c.answered = len(c.ahead) > 0, true
}

// noteRead records n bytes that the server has read. The server watches the client of a running request by a read of
// one byte, which belongs to the next request. The caller holds mu.
func (c *conn) noteRead(p []byte, n int) {
	switch {
	case n == 1 && len(p) == 1:
		c.ahead = []byte{p[0]}
	case n > 0:
		c.ahead, c.answered = nil, false
	}
}

// Close closes the connection. During a takeover it keeps the connection for the successor instead. If a request is
// running on it, Close leaves it to the server, which considered it idle just before the request came.
func (c *conn) Close() error {
	if !c.l.isLeaving() {
		c.l.forget(c, false)
		return c.TCPConn.Close()
	}
	c.keepUnlessBusy()
	return nil
}

// keepUnlessBusy keeps the connection for the successor, unless a request is running on it.
func (c *conn) keepUnlessBusy() {
	c.mu.Lock()
	if c.busy || c.kept {
		c.mu.Unlock()
		return
	}
	c.kept = true
	reading := c.reading
	c.mu.Unlock()
	if reading != nil {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // a connection that failed ends the Read as well
		<-reading
	}
	c.l.forget(c, true)
}

// finish closes a connection that the server has given up. A kept connection stays open. A connection on which the
// server has read the first byte of the next request is kept with that byte.
func (c *conn) finish(closed bool) {
	c.mu.Lock()
	kept := c.kept
	late := !kept && closed && c.answered && len(c.ahead) > 0 && c.l.isLeaving()
	if late {
		c.kept, c.unread = true, c.ahead
	}
	c.mu.Unlock()
	if kept {
		return
	}
	c.l.forget(c, late)
	if closed && !late {
		_ = c.TCPConn.Close() // it is closed already, unless a takeover put that off
	}
}

var _ net.Listener = (*Listener)(nil)
