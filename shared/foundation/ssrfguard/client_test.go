package ssrfguard

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// names is a DNS server. Each query is answered with the next of its addresses; the last one is repeated.
type names struct {
	mu    sync.Mutex
	left  []netip.Addr
	asked atomic.Int64
}

// serve answers until the test ends, and returns the resolver that queries it.
func (n *names) serve(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		b := make([]byte, 512)
		for {
			size, from, err := conn.ReadFrom(b)
			if err != nil {
				return
			}
			conn.WriteTo(n.answer(b[:size]), from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

// answer returns the response of RFC 1035: the question, and an address if it asked for IPv4.
func (n *names) answer(q []byte) []byte {
	end := 12
	for q[end] != 0 {
		end += int(q[end]) + 1
	}
	end += 5
	out := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, q[12:end]...)
	if binary.BigEndian.Uint16(q[end-4:]) != 1 {
		return out
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.asked.Add(1)
	a := n.left[0]
	if len(n.left) > 1 {
		n.left = n.left[1:]
	}
	out[7] = 1
	out = append(out, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
	return append(out, a.AsSlice()...)
}

var loopback = netip.MustParseAddr("127.0.0.1")

// listener counts connections.
func listener(t *testing.T, h http.HandlerFunc) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var seen atomic.Int64
	s := httptest.NewUnstartedServer(h)
	s.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			seen.Add(1)
		}
	}
	s.Start()
	t.Cleanup(s.Close)
	return s, &seen
}

// check 60, when an address is dialled: the dialler alone refuses all hostile addresses, and no other error hides a
// missing refusal.
func TestHostileAddressesAreRefusedWhenTheyAreDialled(t *testing.T) {
	n := &names{left: []netip.Addr{loopback}} // the worst address that a name can resolve to
	p := Policy{resolver: n.serve(t)}
	for _, s := range append(append([]string{}, hostile...), leading...) {
		u, err := url.Parse(s)
		if err != nil || u.Hostname() == "" || u.User != nil {
			continue // it cannot be dialled at all
		}
		port := u.Port()
		if port == "" {
			port = "443"
		}
		t.Run(s, func(t *testing.T) {
			conn, err := p.transport().DialContext(t.Context(), "tcp", net.JoinHostPort(u.Hostname(), port))
			if err == nil {
				conn.Close()
			}
			if _, lookup := errors.AsType[*net.DNSError](err); !fault.Is(err, fault.Invalid) &&
				(!lookup || n.understands(u.Hostname())) {
				t.Errorf("%v", err)
			}
		})
	}
	if n.asked.Load() == 0 {
		t.Error("no name was looked up")
	}
}

// understands reports whether the client queries DNS for the name.
func (*names) understands(host string) bool {
	return strings.HasSuffix(host, ".example") || strings.HasSuffix(host, ".com") ||
		strings.HasSuffix(host, ".internal")
}

// check 61, a name that resolves differently at the second query.
func TestANameThatChangesItsMind(t *testing.T) {
	s, seen := listener(t, func(http.ResponseWriter, *http.Request) {})
	port := s.Listener.Addr().(*net.TCPAddr).Port
	n := &names{left: []netip.Addr{netip.MustParseAddr("93.184.216.34"), loopback}}
	p := Policy{resolver: n.serve(t)}
	const address = "https://rebinding.example/hook"
	if err := p.CheckAddress(address); err != nil {
		t.Fatal(err)
	}
	first, err := p.resolver.LookupNetIP(t.Context(), "ip4", "rebinding.example")
	if err != nil || len(first) != 1 || p.permitAddress(first[0]) != nil {
		t.Fatalf("at the check it leads to %v, %v", first, err)
	}
	resp, err := p.HTTPClient().Get(address)
	if !fault.Is(err, fault.Invalid) {
		t.Errorf("%v, %v", resp, err)
	}
	// the same with a listener at the second address, and its port allowed
	conn, err := p.transport().DialContext(t.Context(), "tcp",
		net.JoinHostPort("rebinding.example", strconv.Itoa(port)))
	if err == nil {
		conn.Close()
	}
	if !fault.Is(err, fault.Invalid) || seen.Load() != 0 {
		t.Errorf("%v, and the listener was reached %d times", err, seen.Load())
	}
}

func TestTheDiallerGoesByThePolicy(t *testing.T) {
	s, seen := listener(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here") })
	if resp, err := (Policy{}).HTTPClient().Get(s.URL); !fault.Is(err, fault.Invalid) || seen.Load() != 0 {
		t.Errorf("%v, %v, reached %d times", resp, err, seen.Load())
	}
	resp, err := Policy{Private: true}.HTTPClient().Get(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := ReadLimited(resp.Body, 4); err != nil || string(b) != "here" {
		t.Errorf("%q, %v", b, err)
	}
	n := &names{left: []netip.Addr{netip.MustParseAddr("169.254.169.254")}}
	p := Policy{Private: true, resolver: n.serve(t)}
	if resp, err := p.HTTPClient().Get("http://rebinding.example/latest/meta-data/"); !fault.Is(err, fault.Invalid) {
		t.Errorf("metadata by a name: %v, %v", resp, err)
	}
}

func TestTheRuntimeOfALambdaIsRefusedWhereLoopbackIsAllowed(t *testing.T) {
	s, seen := listener(t, func(http.ResponseWriter, *http.Request) {})
	p := Policy{Private: true}
	t.Setenv("AWS_LAMBDA_RUNTIME_API", s.Listener.Addr().String())
	for _, at := range []string{
		s.URL, "http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
		"http://[::1]:9001/",
	} {
		if resp, err := p.HTTPClient().Get(at); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v, %v", at, resp, err)
		}
	}
	if seen.Load() != 0 {
		t.Error("it was reached")
	}
}

// check 61, a redirect to metadata, and chains of redirects.
func TestRedirectsAreNotFollowed(t *testing.T) {
	for name, to := range map[string]string{
		"to metadata": "http://169.254.169.254/latest/meta-data/", "to itself": "/again",
		"to a file": "file:///etc/passwd",
	} {
		t.Run(name, func(t *testing.T) {
			var asked atomic.Int64
			s, _ := listener(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				http.Redirect(w, r, to, http.StatusFound)
			})
			resp, err := Policy{Private: true}.HTTPClient().Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusFound || asked.Load() != 1 {
				t.Errorf("status %d after %d requests", resp.StatusCode, asked.Load())
			}
		})
	}
}

// check 61, responses that do not end.
func TestAnswersThatDoNotEnd(t *testing.T) {
	const patience = 200 * time.Millisecond
	for name, h := range map[string]http.HandlerFunc{
		"nothing at all": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"a letter now and then": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				io.WriteString(w, "a")
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := listener(t, h)
			began := time.Now()
			resp, err := Policy{Private: true, Timeout: patience}.HTTPClient().Get(s.URL)
			if err == nil {
				_, err = ReadLimited(resp.Body, 1<<30)
				resp.Body.Close()
			}
			if took := time.Since(began); err == nil || took > 20*patience {
				t.Errorf("%v after %s", err, took)
			}
		})
	}
	t.Run("a gigabyte", func(t *testing.T) {
		var sent atomic.Int64
		s, _ := listener(t, func(w http.ResponseWriter, _ *http.Request) {
			page := make([]byte, 16<<10)
			for range 1 << 16 {
				n, err := w.Write(page)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		})
		resp, err := Policy{Private: true}.HTTPClient().Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadLimited(resp.Body, 16<<10)
		resp.Body.Close()
		if !fault.Is(err, fault.Invalid) || b != nil {
			t.Errorf("%d bytes, %v", len(b), err)
		}
		if s.Close(); sent.Load() > 64<<20 {
			t.Errorf("%d bytes were sent before it was cut off", sent.Load())
		}
	})
	t.Run("headers without end", func(t *testing.T) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
				for err == nil {
					_, err = io.WriteString(conn, "X-Header: "+strings.Repeat("a", 1000)+"\r\n")
				}
			}
		}()
		resp, err := Policy{Private: true, Timeout: 5 * time.Second}.HTTPClient().Get("http://" + l.Addr().String())
		if err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v, %v", resp, err)
		}
	})
}

// TestTransport_EndsAnswersThatAreTooLong reads with a reader without a limit of its own, like the SDKs of clouds.
func TestTransport_EndsAnswersThatAreTooLong(t *testing.T) {
	for name, c := range map[string]struct {
		bytes int64
		fails bool
	}{
		"the longest": {maxAnswerBytes, false}, "a byte more": {maxAnswerBytes + 1, true},
		"without end": {1 << 40, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.CopyN(w, zeros{}, c.bytes) // the client hangs up
			}))
			defer s.Close()
			client := http.Client{Transport: Policy{Private: true, AnyPort: true}.Transport()}
			resp, err := client.Get(s.URL)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			n, err := io.Copy(io.Discard, resp.Body)
			if n != min(c.bytes, maxAnswerBytes) || fault.Is(err, fault.Invalid) != c.fails || !c.fails && err != nil {
				t.Errorf("read %d of %d bytes: %v", n, c.bytes, err)
			}
		})
	}
}

// zeros is a reader that never ends.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

func TestNoProxyIsTaken(t *testing.T) {
	proxy, seen := listener(t, func(http.ResponseWriter, *http.Request) {})
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		t.Setenv(name, proxy.URL)
	}
	n := &names{left: []netip.Addr{loopback}}
	p := Policy{resolver: n.serve(t)}
	if _, err := p.HTTPClient().Get("https://rebinding.example/"); !fault.Is(err, fault.Invalid) || seen.Load() != 0 {
		t.Errorf("%v, the proxy was reached %d times", err, seen.Load())
	}
	if tr := p.transport(); tr.Proxy != nil {
		t.Error("a proxy may be taken from the environment")
	}
}

func TestOldTLSIsRefused(t *testing.T) {
	if v := (Policy{}).transport().TLSClientConfig; v.MinVersion < 0x0303 || v.InsecureSkipVerify {
		t.Errorf("%+v", v)
	}
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	if resp, err := (Policy{Private: true}).HTTPClient().Get(s.URL); err == nil {
		t.Errorf("a certificate of nobody is accepted: %v", resp.Status)
	}
}

// Clients made elsewhere must follow the policy too.
func TestTheTransportChecksEachRequest(t *testing.T) {
	s, seen := listener(t, func(http.ResponseWriter, *http.Request) {})
	c := &http.Client{Transport: Policy{Private: true}.Transport()}
	for range 3 {
		resp, err := c.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
	}
	if seen.Load() != 1 {
		t.Errorf("%d connections for three requests", seen.Load())
	}
	body := &closing{Reader: strings.NewReader("secret")}
	if resp, err := c.Post("http://user:pw@127.0.0.1/", "text/plain", body); !fault.Is(err, fault.Invalid) ||
		!body.closed {
		t.Errorf("%v, %v, body closed: %v", resp, err, body.closed)
	}
	c.CloseIdleConnections()
}

type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

func TestReading(t *testing.T) {
	for name, tt := range map[string]struct {
		limit int64
		want  string
	}{"below the limit": {6, "hello"}, "at the limit": {5, "hello"}, "above the limit": {4, ""}} {
		t.Run(name, func(t *testing.T) {
			b, err := ReadLimited(strings.NewReader("hello"), tt.limit)
			if string(b) != tt.want || fault.Is(err, fault.Invalid) != (tt.want == "") {
				t.Errorf("%q, %v", b, err)
			}
		})
	}
}
