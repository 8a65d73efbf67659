package takeover

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// variable is the environment variable with the file descriptor of the legacy.
const variable = "LAMPLIGHTER_TAKEOVER"

// legacy describes the listener and connections that a program leaves to its successor.
type legacy struct {
	Listener uintptr   `json:"listener"`
	Conns    []inherit `json:"conns"`
	Left     time.Time `json:"left"` // when it accepted its last connection
}

// inherit is an open connection without a running request.
type inherit struct {
	FD     uintptr `json:"fd"`
	Unread []byte  `json:"unread,omitempty"` // the beginning of a request
}

// Inherited is the listener of a successor. It accepts new connections, and each inherited connection once its client
// sends bytes on it.
type Inherited struct {
	net.Listener

	Left     time.Time // when the previous program accepted its last connection
	accepted chan accepted
	closed   chan struct{}
	close    sync.Once
}

type accepted struct {
	conn net.Conn
	err  error
}

// InheritListener returns the listener and connections of the previous program, or nil if there was none. Call it once,
// before any other code reads the environment.
func InheritListener() (*Inherited, error) {
	fd, err := strconv.Atoi(os.Getenv(variable))
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // nothing was left
	}
	if err = os.Unsetenv(variable); err != nil {
		return nil, fmt.Errorf("inherit the connections: %w", err)
	}
	f := os.NewFile(uintptr(fd), "legacy")
	var left legacy
	err = json.NewDecoder(f).Decode(&left)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("read the state of the previous program: %w", err)
	}
	return left.open()
}

func (left legacy) open() (*Inherited, error) {
	f := os.NewFile(left.Listener, "listener")
	ln, err := net.FileListener(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("inherit the listening socket: %w", err)
	}
	in := &Inherited{Listener: ln, Left: left.Left, accepted: make(chan accepted), closed: make(chan struct{})}
	for _, c := range left.Conns {
		f := os.NewFile(c.FD, "connection")
		nc, err := net.FileConn(f)
		_ = f.Close() // nc is another descriptor
		if err == nil {
			go in.awaitRequest(&resumed{Conn: nc, unread: c.Unread})
		}
	}
	go in.acceptNew()
	return in, nil
}

// idle is how long an inherited connection is kept without a request.
const idle = 2 * time.Minute

// awaitRequest accepts an inherited connection when its client sends bytes. If the server got it earlier, it would
// treat it as a new connection and expect a request at once.
func (in *Inherited) awaitRequest(c *resumed) {
	if len(c.unread) == 0 {
		p := make([]byte, 4096)
		_ = c.SetReadDeadline(clock.System{}.Now().Add(idle)) // a connection that failed ends the Read as well
		n, err := c.Conn.Read(p)
		if n == 0 && err != nil {
			_ = c.Close()
			return
		}
		c.unread = p[:n]
	}
	in.give(accepted{conn: c})
}

func (in *Inherited) acceptNew() {
	for {
		c, err := in.Listener.Accept()
		in.give(accepted{c, err})
		if errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// give hands a connection to Accept, or closes it if the listener is closed.
func (in *Inherited) give(a accepted) {
	select {
	case in.accepted <- a:
	case <-in.closed:
		if a.conn != nil {
			_ = a.conn.Close()
		}
	}
}

// Accept waits for a connection.
func (in *Inherited) Accept() (net.Conn, error) {
	select {
	case a := <-in.accepted:
		return a.conn, a.err
	case <-in.closed:
		return nil, net.ErrClosed
	}
}

// Close closes the socket. Waiting inherited connections are closed when their wait ends.
func (in *Inherited) Close() error {
	in.close.Do(func() { close(in.closed) })
	return in.Listener.Close()
}

// resumed is an inherited connection. Its Read returns first the bytes that the previous program has already read.
type resumed struct {
	net.Conn
	unread []byte
}

// Read returns the bytes that the client has sent.
func (r *resumed) Read(p []byte) (int, error) {
	if len(r.unread) > 0 {
		n := copy(p, r.unread)
		r.unread = r.unread[n:]
		return n, nil
	}
	return r.Conn.Read(p)
}
