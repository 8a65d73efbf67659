package edge

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/id"
)

// listener accepts connections whose malformed requests get the interface's error.
type listener struct {
	net.Listener
	clock clock.Clock
}

// Accept returns the next connection.
func (l listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, clock: l.clock}, nil
}

// conn is a connection of a server. The server writes to it while a handler runs, and until it has sent the handler's
// answer. Whatever it writes at another time is its own answer to a request that reaches no handler. One goroutine of
// the server reads requests, runs handlers, writes and changes the state, so no lock is needed.
type conn struct {
	net.Conn
	clock   clock.Clock
	handled bool // a handler has begun to answer, and the server has not ended the request
}

// Write sends p, or the interface's error in place of an error of the server's own.
func (c *conn) Write(p []byte) (int, error) {
	status, ok := ownError(p)
	if c.handled || !ok {
		return c.Conn.Write(p)
	}
	if _, err := c.Conn.Write(c.answer(status, detailOf(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

// CloseWrite ends the sending half of the connection. The server uses it so that a client can read the answer to a
// request that it is still sending.
func (c *conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return nil
}

// answer returns the whole answer to a malformed request.
func (c *conn) answer(status int, detail string) []byte {
	now, message := c.clock.Now(), explain(status, detail)
	var out bytes.Buffer
	_, _ = fmt.Fprintf(&out, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status)) // a buffer never fails
	h := http.Header{}
	for name, value := range headers(id.New("gw", now)) {
		h.Set(name, value)
	}
	h.Set("Connection", "close")
	h.Set("Date", now.UTC().Format(http.TimeFormat))
	b := body(message)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	_ = h.Write(&out)
	out.WriteString("\r\n")
	out.Write(b)
	return out.Bytes()
}

// ownError returns the status of an error that the server writes without a handler, and reports whether p is one.
func ownError(p []byte) (int, bool) {
	line, ok := bytes.CutPrefix(p, []byte("HTTP/1.1 "))
	if !ok || len(line) < 3 {
		return 0, false
	}
	status, err := strconv.Atoi(string(line[:3]))
	return status, err == nil && status >= http.StatusBadRequest
}

// detailOf returns the reason that the server has put behind the status, or "".
func detailOf(p []byte) string {
	line, _, _ := bytes.Cut(p, []byte("\r\n"))
	_, detail, _ := strings.Cut(string(line), ": ")
	return detail
}

// explain returns the message for a status of the server.
func explain(status int, detail string) string {
	switch {
	case status == http.StatusRequestHeaderFieldsTooLarge:
		return "the request line and the headers together are longer than 64 KiB"
	case status == http.StatusExpectationFailed:
		return "the header Expect has another value than 100-continue"
	case status == http.StatusNotImplemented:
		return "the header Transfer-Encoding has another value than chunked"
	case detail != "":
		return "the request is malformed: " + detail
	case status == http.StatusBadRequest:
		return "the request is malformed: the request line or a header is not well-formed"
	}
	return http.StatusText(status)
}

// connKey is the key of the context value that holds the connection of a request.
type connKey struct{}

// Attach makes the server answer malformed requests with the interface's error. It returns the listener for Serve. It
// calls the Handler, the ConnState and the ConnContext that the server has, with the connections of ln.
func (e Edge) Attach(server *http.Server, ln net.Listener) net.Listener {
	server.DisableGeneralOptionsHandler = true // the interface answers OPTIONS * too
	followHandlers(server)
	followStates(server)
	return listener{ln, e.Clock}
}

// followStates makes connections know when the server has ended a request.
func followStates(server *http.Server) {
	next := server.ConnState
	server.ConnState = func(nc net.Conn, s http.ConnState) {
		c, ours := nc.(*conn)
		if ours {
			nc = c.Conn
		}
		if ours && s == http.StateIdle {
			c.handled = false
		}
		if next != nil {
			next(nc, s)
		}
	}
}

// followHandlers makes connections know when a handler begins.
func followHandlers(server *http.Server) {
	handler, connContext := server.Handler, server.ConnContext
	server.ConnContext = func(ctx context.Context, nc net.Conn) context.Context {
		c, ours := nc.(*conn)
		if ours {
			ctx, nc = context.WithValue(ctx, connKey{}, c), c.Conn
		}
		if connContext != nil {
			ctx = connContext(ctx, nc)
		}
		return ctx
	}
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if c, ours := r.Context().Value(connKey{}).(*conn); ours {
			c.handled = true
		}
		handler.ServeHTTP(w, r)
	})
}
