package takeover

import (
	"net"
	"sync"
	"time"
)

// conn is a connection of a Listener.
type conn struct {
	*net.TCPConn
	l *Listener

	mu      sync.Mutex
	running bool          // the handler has begun a request, and the server has not ended it
	pending []byte        // bytes that the server has read of a request whose handler has not begun
	reading chan struct{} // closed at the end of the running Read; nil if none is running
	kept    bool          // for the successor
	unread  []byte        // bytes that the successor reads first
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
	// While a handler runs, the server reads its body, and watches the client by reads of one byte, which belongs to
	// the next request.
	if !c.running || len(p) == 1 {
		c.pending = append(c.pending, p[:n]...)
	}
	return n, err
}

// beginRequest records that the handler of a request begins.
func (c *conn) beginRequest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running, c.pending = true, nil
}

// endRequest records that the request is answered.
func (c *conn) endRequest() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running = false
}

// Close closes the connection. During a takeover it keeps the connection for the successor instead, unless the server
// has read bytes of a request: finish decides then.
func (c *conn) Close() error {
	if !c.l.isLeaving() {
		c.l.forget(c, false)
		return c.TCPConn.Close()
	}
	c.keepUnlessBusy()
	return nil
}

// keepUnlessBusy keeps the connection for the successor, unless the server runs a request on it or has read bytes of
// one.
func (c *conn) keepUnlessBusy() {
	c.mu.Lock()
	if c.running || len(c.pending) > 0 || c.kept {
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

// finish ends a connection that the server has given up. A kept connection stays open. If the server has read bytes
// of a request and dropped them, as it does when it shuts down, finish keeps the connection with these bytes.
func (c *conn) finish(closed bool) {
	leaving := c.l.isLeaving()
	c.mu.Lock()
	kept := c.kept
	dropped := closed && leaving && !kept && !c.running && len(c.pending) > 0
	if dropped {
		c.kept, c.unread = true, c.pending
	}
	c.mu.Unlock()
	if kept {
		return
	}
	c.l.forget(c, dropped)
	if closed && !dropped {
		_ = c.TCPConn.Close() // it is closed already, unless a takeover put that off
	}
}
