package takeover

import (
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
)

// A connection is kept for the successor with its unread bytes. A connection with a running request is answered
// first.
func TestListener_KeepsConnectionsWithoutARequestUnderWay(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(tcp.(*net.TCPListener))
	entered, answer := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			close(entered)
			<-answer
		}
	})}
	l.Attach(server)
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	idle, slow := dialListener(t, l), dialListener(t, l)
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
	server := &http.Server{}
	l.Attach(server)
	server.ConnState = func(c net.Conn, state http.ConnState) {
		watchConn(c, state)
		if state == http.StateClosed {
			close(closed)
		}
	}
	go server.Serve(l)
	fresh := dialListener(t, l)
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

// The http.Server drops a request that it has read when it shuts down before the handler starts. The successor must
// get its bytes.
func TestListener_KeepsARequestThatTheServerDrops(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := NewListener(tcp.(*net.TCPListener))
	read, shutting := make(chan struct{}), make(chan struct{})
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the handler ran")
	})}
	l.Attach(server)
	server.ConnState = func(c net.Conn, state http.ConnState) {
		if state == http.StateActive {
			close(read)
			<-shutting
		}
		watchConn(c, state)
	}
	server.RegisterOnShutdown(func() { close(shutting) })
	go server.Serve(l)
	c := dialListener(t, l)
	c.send(t, "/")
	<-read
	if err = l.Leave(t.Context(), server); err != nil {
		t.Fatal(err)
	}
	l.TCPListener.Close()
	if len(l.left) != 1 || !strings.HasPrefix(string(l.left[0].unread), "GET / HTTP/1.1\r\n") {
		t.Fatalf("%d connections are kept without the bytes of the request", len(l.left))
	}
	l.left[0].TCPConn.Close()
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
