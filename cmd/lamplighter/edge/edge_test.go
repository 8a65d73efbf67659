package edge_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/cmd/lamplighter/edge"
	"lamplighter.dev/shared/foundation/clock"
)

var noon = time.Date(2026, time.March, 10, 12, 0, 0, 0, time.UTC)

// serve runs a server with an edge until the test ends, and returns its address. change changes the server before the
// edge is attached.
func serve(t *testing.T, handler http.HandlerFunc, change func(*http.Server)) string {
	t.Helper()
	ln, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler, MaxHeaderBytes: 64 << 10, ReadHeaderTimeout: 10 * time.Second}
	if change != nil {
		change(server)
	}
	e := edge.Edge{Hosts: []string{"lamps.example"}, Clock: clock.NewManual(noon)}
	server.Handler = e.Guard(server.Handler)
	at, done := e.Attach(server, ln), make(chan error, 1)
	go func() { done <- server.Serve(at) }()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
	return ln.Addr().String()
}

// exchange sends raw bytes on a new connection and returns the answers, one for each request that the server sees.
func exchange(t *testing.T, address, raw string) []*http.Response {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	go func() { _, _ = io.WriteString(c, raw) }() // the server may close the connection before it has read everything
	var out []*http.Response
	in := bufio.NewReader(c)
	for {
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return out
		}
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		res.Body = io.NopCloser(strings.NewReader(string(b)))
		if out = append(out, res); res.Close {
			return out
		}
	}
}

// wantError checks that an answer is an error of the interface, and returns its message.
func wantError(t *testing.T, res *http.Response, status int) string {
	t.Helper()
	var got struct {
		Error struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	err := json.NewDecoder(res.Body).Decode(&got)
	if res.StatusCode != status || err != nil || got.Error.Message == "" {
		t.Errorf("%d %v %+v; want %d with a message", res.StatusCode, err, got, status)
	}
	if res.Header.Get("Content-Type") != "application/json" || res.Header.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.HasPrefix(res.Header.Get("X-Request-Id"), "gw_") {
		t.Errorf("headers %v", res.Header)
	}
	return got.Error.Message
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "served") }

func TestEdge_AnswersOnlyToItsHosts(t *testing.T) {
	address := serve(t, ok, nil)
	for name, c := range map[string]struct {
		request string
		want    int
	}{
		"the address":                     {"GET / HTTP/1.1\r\nHost: 127.0.0.1:8080", 200},
		"the address without a port":      {"GET / HTTP/1.1\r\nHost: 127.0.0.1", 200},
		"localhost":                       {"GET / HTTP/1.1\r\nHost: LocalHost:9000", 200},
		"the address of IPv6":             {"GET / HTTP/1.1\r\nHost: [::1]:8080", 200},
		"a name that a flag gave":         {"GET / HTTP/1.1\r\nHost: lamps.example", 200},
		"the name of a page":              {"GET / HTTP/1.1\r\nHost: evil.example:8080", 421},
		"a name below one of ours":        {"GET / HTTP/1.1\r\nHost: evil.lamps.example", 421},
		"a name with ours in front":       {"GET / HTTP/1.1\r\nHost: localhost.evil.example", 421},
		"another address of this machine": {"GET / HTTP/1.1\r\nHost: 192.0.2.1:8080", 421},
		"another address in the line":     {"GET http://evil.example/ HTTP/1.1\r\nHost: 127.0.0.1", 421},
		"an empty name":                   {"GET / HTTP/1.1\r\nHost: ", 400},
		"a port that is none":             {"GET / HTTP/1.1\r\nHost: 127.0.0.1:x", 400},
		"a bracket that is open":          {"GET / HTTP/1.1\r\nHost: [::1", 400},
		"text behind the bracket":         {"GET / HTTP/1.1\r\nHost: [::1]evil", 400},
		"no name in an old request":       {"GET / HTTP/1.0", 400},
	} {
		t.Run(name, func(t *testing.T) {
			got := exchange(t, address, c.request+"\r\nConnection: close\r\n\r\n")
			if len(got) != 1 {
				t.Fatalf("%d answers", len(got))
			}
			if c.want == http.StatusOK && got[0].StatusCode != http.StatusOK {
				t.Errorf("status %d", got[0].StatusCode)
			} else if c.want != http.StatusOK {
				wantError(t, got[0], c.want)
			}
		})
	}
}

func TestEdge_NamesTheRefusedHostAndTheWayOut(t *testing.T) {
	got := exchange(t, serve(t, ok, nil), "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
	if len(got) != 1 {
		t.Fatalf("%d answers", len(got))
	}
	said := wantError(t, got[0], http.StatusMisdirectedRequest)
	if !strings.Contains(said, `"evil.example"`) || !strings.Contains(said, "-host") {
		t.Errorf("it says %q", said)
	}
}

func TestEdge_AnswersMalformedRequestsWithTheInterfacesError(t *testing.T) {
	address := serve(t, ok, nil)
	const host = "Host: 127.0.0.1\r\n"
	for name, c := range map[string]struct {
		request string
		status  int
		says    string
	}{
		"a request line of noise":    {"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400, "request line"},
		"a line without a version":   {"GET /\r\n" + host + "\r\n", 400, "request line"},
		"a version that is none":     {"GET / HTTP/9.9.9\r\n" + host + "\r\n", 400, "malformed"},
		"a version of the future":    {"GET / HTTP/3.0\r\n" + host + "\r\n", 505, "unsupported protocol version"},
		"a method with a control":    {"GE\x00T / HTTP/1.1\r\n" + host + "\r\n", 400, "malformed"},
		"a path that is no path":     {"GET noslash HTTP/1.1\r\n" + host + "\r\n", 400, "malformed"},
		"a path cut in an escape":    {"GET /%zz HTTP/1.1\r\n" + host + "\r\n", 400, "malformed"},
		"no Host":                    {"GET / HTTP/1.1\r\n\r\n", 400, "missing required Host header"},
		"two Hosts":                  {"GET / HTTP/1.1\r\n" + host + host + "\r\n", 400, "malformed"},
		"a Host with a slash":        {"GET / HTTP/1.1\r\nHost: 127.0.0.1/x\r\n\r\n", 400, "malformed Host header"},
		"a header without a colon":   {"GET / HTTP/1.1\r\n" + host + "noise\r\n\r\n", 400, "malformed"},
		"a header name with a space": {"GET / HTTP/1.1\r\n" + host + "A b: c\r\n\r\n", 400, "malformed"},
		"a header with a control":    {"GET / HTTP/1.1\r\n" + host + "A: b\x01c\r\n\r\n", 400, "malformed"},
		"a length that is none":      {"POST / HTTP/1.1\r\n" + host + "Content-Length: x\r\n\r\n", 400, "malformed"},
		"an encoding that is unknown": {
			"POST / HTTP/1.1\r\n" + host + "Transfer-Encoding: brotli\r\n\r\n", 501,
			"Transfer-Encoding has another value than chunked",
		},
		"a header of 100 KiB": {
			"GET / HTTP/1.1\r\n" + host + "A: " + strings.Repeat("a", 100<<10) + "\r\n\r\n", 431, "64 KiB",
		},
		"an expectation that is unknown": {
			"GET / HTTP/1.1\r\n" + host + "Expect: wonders\r\n\r\n", 417,
			"100-continue",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := exchange(t, address, c.request)
			if len(got) != 1 {
				t.Fatalf("%d answers", len(got))
			}
			if said := wantError(t, got[0], c.status); !strings.Contains(said, c.says) {
				t.Errorf("it says %q, not %q", said, c.says)
			}
			if !got[0].Close || got[0].Header.Get("Date") == "" {
				t.Errorf("headers %v", got[0].Header)
			}
		})
	}
}

func TestEdge_AnswersAMalformedRequestBehindAGoodOne(t *testing.T) {
	got := exchange(t, serve(t, ok, nil), "GET / HTTP/1.1\r\nHost: localhost\r\n\r\nnoise\r\n\r\n")
	if len(got) != 2 || got[0].StatusCode != http.StatusOK {
		t.Fatalf("%d answers", len(got))
	}
	wantError(t, got[1], http.StatusBadRequest)
}

// An answer that looks like an error of the server stays as the handler wrote it.
func TestEdge_LeavesAnswersOfTheHandlerAlone(t *testing.T) {
	body := "HTTP/1.1 400 Bad Request: mine\r\n\r\n" + strings.Repeat("a", 64<<10)
	address := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(w, body)
	}, nil)
	for _, version := range []string{"1.0", "1.1"} {
		got := exchange(t, address, "GET / HTTP/"+version+"\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if len(got) != 1 {
			t.Fatalf("HTTP/%s: %d answers", version, len(got))
		}
		b, err := io.ReadAll(got[0].Body)
		if err != nil || string(b) != body || got[0].StatusCode != http.StatusBadRequest {
			t.Errorf("HTTP/%s: %d %v %.100q", version, got[0].StatusCode, err, b)
		}
	}
}

func TestEdge_KeepsWhatTheServerFollows(t *testing.T) {
	type key struct{}
	states := make(chan http.ConnState, 10)
	address := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if _, tcp := r.Context().Value(key{}).(*net.TCPConn); !tcp {
			w.WriteHeader(http.StatusTeapot)
		}
	}, func(s *http.Server) {
		s.ConnState = func(c net.Conn, state http.ConnState) {
			if _, tcp := c.(*net.TCPConn); tcp {
				states <- state
			}
		}
		s.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, key{}, c)
		}
	})
	got := exchange(t, address, "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
	if len(got) != 1 || got[0].StatusCode != http.StatusOK {
		t.Fatalf("%d answers, the first %+v", len(got), got)
	}
	for _, want := range []http.ConnState{http.StateNew, http.StateActive, http.StateClosed} {
		if s := <-states; s != want {
			t.Errorf("the connection is %s, want %s", s, want)
		}
	}
}
