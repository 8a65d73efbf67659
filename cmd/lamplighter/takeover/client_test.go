package takeover

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"testing"
)

// client is a connection to a server of a test.
type client struct {
	net.Conn
	in *bufio.Reader
}

func dialListener(t *testing.T, l net.Listener) client {
	t.Helper()
	c, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return client{c, bufio.NewReader(c)}
}

func (c client) send(t *testing.T, path string) {
	t.Helper()
	if _, err := io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: here\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
}

func (c client) receive(t *testing.T) {
	t.Helper()
	res, err := http.ReadResponse(c.in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if res.Body.Close(); res.StatusCode != http.StatusOK {
		t.Errorf("status %d", res.StatusCode)
	}
}

func (c client) get(t *testing.T, path string) {
	t.Helper()
	c.send(t, path)
	c.receive(t)
}
