package takeover

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// stale returns the line about a package of one file of size bytes.
func stale(t *testing.T, name string, size int) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.go"), make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("stale %s %s a.go", name, dir)
}

func TestCompilation_EstimatesFromTheBytesThatAreLeft(t *testing.T) {
	clk := clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	c := newCompilation(clk)
	unknown, _ := c.Left()
	c.follow(stale(t, "cloud/ec2", 15_000_000))
	c.follow(stale(t, "cloud/s3", 15_000_000))
	begun, _ := c.Left()
	clk.Advance(15 * time.Second)
	c.follow("compiled: 1, cloud/ec2")
	half, _ := c.Left()
	c.follow("compiled: 2, cloud/s3")
	linked, err := c.Left()
	for _, got := range []struct {
		name string
		is   time.Duration
		want time.Duration
	}{
		{"before the packages are listed", unknown, 70*time.Second + linking},
		{"before anything is compiled", begun, 30*time.Second + linking},
		{"after the first half, at the usual speed", half, 15*time.Second + linking},
		{"when all is compiled", linked, linking},
	} {
		if got.is != got.want {
			t.Errorf("%s: %s, want %s", got.name, got.is, got.want)
		}
	}
	if err != nil {
		t.Error(err)
	}
}

func TestCompilation_FailsWithTheFirstError(t *testing.T) {
	c := newCompilation(clock.NewManual(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)))
	for _, line := range []string{
		"Compiling what has changed.", "go: downloading a.example/b v1.0.0",
		"# lamplighter.dev/shared/cloud", "shared/cloud/a.go:1:1: expected 'package'", "make: *** Error 1",
	} {
		c.follow(line)
	}
	c.finish(errors.New("exit status 2"))
	<-c.Failed()
	if _, err := c.Left(); err == nil || err.Error() != "shared/cloud/a.go:1:1: expected 'package': exit status 2" {
		t.Errorf("%v", err)
	}
	if !strings.HasPrefix(c.Output(), "# lamplighter.dev/shared/cloud\nshared/cloud/a.go:1:1") {
		t.Errorf("%q", c.Output())
	}
}

// A connection is kept for the successor with its unread bytes. A connection with a running request is answered
// first.
func TestListener_KeepsConnectionsWithoutARequestUnderWay(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(tcp.(*net.TCPListener))
	entered, answer := make(chan struct{}), make(chan struct{})
	server := &http.Server{ConnState: l.Watch, Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-answer
		}
	})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	idle, slow := dial(t, l), dial(t, l)
	idle.get(t, "/")
	slow.send(t, "/slow")
	<-entered
	left := make(chan error, 1)
	go func() { left <- l.Leave(t.Context(), server) }()
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Errorf("the server ended with %v", err)
	}
	close(answer)
	slow.receive(t)
	if err := <-left; err != nil {
		t.Error(err)
	}
	if kept := l.left; len(kept) == 0 || kept[0].RemoteAddr().String() != idle.LocalAddr().String() {
		t.Errorf("%d connections are kept", len(kept))
	}
	waiting, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("a new connection was refused: %v", err)
	}
	waiting.Close()
	for _, c := range l.left {
		c.TCPConn.Close()
	}
	l.TCPListener.Close()
}

// The server must not answer a new connection that it gives up: the successor answers its first request.
func TestListener_WritesNothingToANewConnectionThatItKeeps(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(tcp.(*net.TCPListener))
	closed := make(chan struct{})
	server := &http.Server{ConnState: func(c net.Conn, state http.ConnState) {
		l.Watch(c, state)
		if state == http.StateClosed {
			close(closed)
		}
	}}
	go server.Serve(l)
	fresh := dial(t, l)
	for !l.isReading() {
		runtime.Gosched()
	}
	if err = l.Leave(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	<-closed
	const answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
	if _, err = l.left[0].Write([]byte(answer)); err != nil {
		t.Fatal(err)
	}
	l.left[0].TCPConn.Close()
	l.TCPListener.Close()
	if got, err := io.ReadAll(fresh); err != nil || string(got) != answer {
		t.Errorf("the client received %q, %v", got, err)
	}
}

// isReading reports whether the server reads from a connection.
func (l *Listener) isReading() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for c := range l.conns {
		c.mu.Lock()
		reading := c.reading != nil
		c.mu.Unlock()
		if reading {
			return true
		}
	}
	return false
}
