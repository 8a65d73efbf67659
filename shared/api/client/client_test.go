package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// watch is a clock whose Sleep moves it at once.
type watch struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

func (w *watch) Now() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.now
}

func (w *watch) Sleep(ctx context.Context, d time.Duration) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.now, w.slept = w.now.Add(d), append(w.slept, d)
	return ctx.Err()
}

// trial is a client, its server's requests and its waits.
type trial struct {
	*Client
	mu       sync.Mutex // of the requests: a client may have its answer before the handler has ended
	requests []*http.Request
	bodies   []string
	notices  []string
	watch    *watch
}

// note keeps a request of the client, and returns its number from 1.
func (tr *trial) note(r *http.Request, body string) int {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	tr.requests, tr.bodies = append(tr.requests, r), append(tr.bodies, body)
	return len(tr.requests)
}

// sent returns the requests of the client, in their order.
func (tr *trial) sent() []*http.Request {
	tr.mu.Lock()
	defer tr.mu.Unlock()
	return slices.Clone(tr.requests)
}

// newTrial returns a client of a server that answers the n-th request, from 1, by answer.
func newTrial(t *testing.T, tokens TokenStore, answer func(n int, w http.ResponseWriter, r *http.Request)) *trial {
	t.Helper()
	tr := &trial{watch: &watch{now: time.Date(2026, 11, 29, 10, 0, 33, 0, time.UTC)}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(b)))
		n := tr.note(r, string(b))
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Date", tr.watch.Now().Format(http.TimeFormat))
		answer(n, w, r)
	}))
	t.Cleanup(srv.Close)
	c, err := New(Options{
		Address: srv.URL, Tokens: tokens, Clock: tr.watch, UserAgent: "trial",
		Notice: func(s string) { tr.notices = append(tr.notices, s) },
	})
	if err != nil {
		t.Fatal(err)
	}
	tr.Client = c
	return tr
}

func answer(status int, body string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

// sequence answers the first request with the first status, and so on; the last one stays. 0 breaks the connection.
func sequence(statuses ...int) func(int, http.ResponseWriter, *http.Request) {
	return func(n int, w http.ResponseWriter, _ *http.Request) {
		status := statuses[min(n, len(statuses))-1]
		if status == 0 {
			panic(http.ErrAbortHandler)
		}
		w.WriteHeader(status)
		io.WriteString(w, `{"data":{"id":"x"},"error":"no"}`)
	}
}

func TestParseAddress(t *testing.T) {
	for address, valid := range map[string]bool{
		"https://lamplighter.example.com": true, "https://x.example.com/prod/": true, "http://127.0.0.1:8080": true,
		"ftp://x.example.com": false, "file:///etc/passwd": false, "lamplighter.example.com": false, "": false,
		"https://user:secret@x.example.com": false, "https://x.example.com/?a=b": false, "https:x": false,
		"https://": false, "http://x:secret@[": false,
	} {
		u, err := ParseAddress(address)
		if (err == nil) != valid {
			t.Errorf("%q: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: the error shows the password: %v", address, err)
		}
		if err == nil && strings.HasSuffix(u.String(), "/") {
			t.Errorf("%q ends with a slash", u)
		}
	}
}

func TestPath_FillsPlaceholders(t *testing.T) {
	if got := Path("/a/{x}/b/{y}", "1/2", "{z}"); got != "/a/1%2F2/b/%7Bz%7D" {
		t.Error(got)
	}
}

func TestCall_ReportsTheThreeShapesOfErrors(t *testing.T) {
	for name, c := range map[string]struct{ kind, body, want string }{
		"of the service":               {"application/json", `{"error":{"message":"too long"}}`, "too long"},
		"of the gateway":               {"application/json", `{"error":"Forbidden"}`, "Forbidden"},
		"of OAuth":                     {"application/json", `{"error":"x","error_description":"no code"}`, "no code"},
		"of OAuth, labelled as text":   {"text/plain", `{"error":"x","error_description":"no code"}`, "no code"},
		"of a proxy, as a page":        {"text/html", "<h1>secret</h1>", "Bad Request"},
		"of nobody, cut in the middle": {"application/json", `{"error":`, "Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, Static("the-token"), func(_ int, w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", c.kind)
				w.Header().Set("X-Request-Id", "req-1")
				w.WriteHeader(http.StatusBadRequest)
				io.WriteString(w, c.body)
			})
			err := tr.Call(t.Context(), Request{Method: "GET", Path: "/teams"}, nil)
			e, ok := errors.AsType[*Error](err)
			if !ok || e.Message != c.want || e.Status != 400 || !strings.Contains(err.Error(), "request req-1") {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

func TestCall_NeverShowsAToken(t *testing.T) {
	const token = "the-secret-token"
	for _, status := range []int{0, 302, 400, 401, 403, 500} {
		tr := newTrial(t, Static(token), sequence(status))
		err := tr.Call(t.Context(), Request{Method: "PUT", Path: "/teams", Body: 1}, nil)
		if said := fmt.Sprint(err, tr.notices); err == nil || strings.Contains(said, token) {
			t.Errorf("%d: %s", status, said)
		}
		if got := tr.sent()[0].Header.Get("Authorization"); got != "Bearer "+token {
			t.Errorf("%d: the request has the credential %q", status, got)
		}
	}
}

func TestCall_ARedirectIsNotFollowed(t *testing.T) {
	tr := newTrial(t, Static("t"), func(_ int, w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.example.com/", http.StatusFound)
	})
	err := tr.Call(t.Context(), Request{Method: "GET", Path: "/teams"}, nil)
	if !IsStatus(err, http.StatusFound) || !strings.Contains(err.Error(), "elsewhere.example.com") {
		t.Error(err)
	}
}

func TestCall_ARepeatedWriteHasTheSameKey(t *testing.T) {
	tr := newTrial(t, nil, sequence(0, 503, 200))
	if err := tr.Call(t.Context(), Request{Method: "POST", Path: "/actions", Body: 1}, nil); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, r := range tr.sent() {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
	}
	if len(keys) != 3 || len(keys[0]) < 20 || len(slices.Compact(keys)) != 1 {
		t.Errorf("keys %q", keys)
	}
	if err := tr.Call(t.Context(), Request{Method: "POST", Path: "/actions", Body: 1}, nil); err != nil {
		t.Fatal(err)
	}
	if tr.sent()[3].Header.Get("Idempotency-Key") == keys[0] {
		t.Error("another call has the same key")
	}
}

func TestCall_RepeatsOnlyWhatCannotActTwice(t *testing.T) {
	for method, want := range map[string]int{
		"GET": maxTries - 1, "POST": maxTries - 1, "PATCH": 1, "DELETE": 1, "PUT": 1,
	} {
		tr := newTrial(t, nil, sequence(0))
		err := tr.Call(t.Context(), Request{Method: method, Path: "/x", Body: 1}, nil)
		if _, lost := errors.AsType[*LostError](err); !lost || len(tr.sent()) != want {
			t.Errorf("%s: sent %d times, want %d: %v", method, len(tr.sent()), want, err)
		}
	}
}

func TestCall_AWriteThatStillRunsIsWaitedFor(t *testing.T) {
	tr := newTrial(t, nil, sequence(0, 409, 409, 200))
	if err := tr.Call(t.Context(), Request{Method: "POST", Path: "/actions", Body: 1}, nil); err != nil {
		t.Error(err)
	}
	tr = newTrial(t, nil, sequence(409, 200))
	err := tr.Call(t.Context(), Request{Method: "POST", Path: "/actions", Body: 1}, nil)
	if !IsStatus(err, http.StatusConflict) || len(tr.sent()) != 1 {
		t.Errorf("a conflict was sent %d times: %v", len(tr.sent()), err)
	}
}

func TestCall_AnExpiredCertificateNamesTheClock(t *testing.T) {
	srv := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(srv.Close)
	transport := srv.Client().Transport.(*http.Transport).Clone()
	transport.TLSClientConfig.Time = func() time.Time { return time.Date(2190, 1, 1, 0, 0, 0, 0, time.UTC) }
	c, err := New(Options{Address: srv.URL, Transport: transport, Clock: &watch{}})
	if err != nil {
		t.Fatal(err)
	}
	err = c.Call(t.Context(), Request{Method: "PUT", Path: "/x"}, nil)
	if err == nil || !strings.Contains(err.Error(), "check the clock of this machine") {
		t.Error(err)
	}
}

func TestCall_WaitsForTheRateLimit(t *testing.T) {
	for name, c := range map[string]struct {
		after string
		want  time.Duration
	}{
		"until the next minute, without a header": {"", 28 * time.Second},
		"as long as Retry-After says":             {"7", 7 * time.Second},
		"until the time of Retry-After":           {"Sun, 29 Nov 2026 10:00:43 GMT", 10 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
				if n == 1 && c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				sequence(429, 200)(n, w, r)
			})
			err := tr.Call(t.Context(), Request{Method: "DELETE", Path: "/x"}, nil)
			if err != nil || !slices.Equal(tr.watch.slept, []time.Duration{c.want}) {
				t.Errorf("slept %v, want %s: %v", tr.watch.slept, c.want, err)
			}
			if want := fmt.Sprintf("going on in %d s", int(c.want.Seconds())); len(tr.notices) != 1 ||
				!strings.Contains(tr.notices[0], want) {
				t.Errorf("said %q, want %q", tr.notices, want)
			}
		})
	}
}

func TestCall_DoesNotWaitForHours(t *testing.T) {
	tr := newTrial(t, nil, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7200")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	err := tr.Call(t.Context(), Request{Method: "GET", Path: "/x"}, nil)
	if !IsStatus(err, 429) || !strings.Contains(err.Error(), "2h0m0s") || len(tr.watch.slept) > 0 {
		t.Errorf("slept %v: %v", tr.watch.slept, err)
	}
}

func TestCall_TheServicesClockCounts(t *testing.T) {
	tr := newTrial(t, nil, func(n int, w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", "Sun, 29 Nov 2026 12:30:50 GMT")
		sequence(429, 200)(n, w, r)
	})
	if err := tr.Call(t.Context(), Request{Method: "GET", Path: "/x"}, nil); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(tr.watch.slept, []time.Duration{11 * time.Second}) {
		t.Errorf("slept %v, want 11 s: the service's minute ends in 10 s", tr.watch.slept)
	}
}

func TestCall_ASlowAnswerMeetsTheDeadline(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(srv.Close)
	c, err := New(Options{Address: srv.URL, Timeout: time.Millisecond, Clock: &watch{}})
	if err != nil {
		t.Fatal(err)
	}
	if err = c.Call(t.Context(), Request{Method: "PUT", Path: "/x"}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestDo_APathMustLieBelowTheAddress(t *testing.T) {
	tr := newTrial(t, Static("t"), answer(200, "{}"))
	for _, path := range []string{"@elsewhere.example.com/x", ".example.com/x", "9/x"} {
		if _, err := tr.Do(t.Context(), Request{Method: "GET", Path: path}); err == nil {
			t.Errorf("%q was requested", path)
		}
	}
	if len(tr.sent()) > 0 {
		t.Errorf("%d requests were sent", len(tr.sent()))
	}
}

func TestRecords_ReadsAllPages(t *testing.T) {
	for name, c := range map[string]struct {
		envelope     string
		limit, want  int
		wantRequests int
	}{
		"a bare array ends with a short page": {`{"data":%s}`, 0, 250, 3},
		"items end with the total":            {`{"data":{"items":%s,"total":250}}`, 0, 250, 3},
		"a limit ends the list":               {`{"data":%s}`, 130, 130, 2},
		"a small limit asks for a small page": {`{"data":{"items":%s,"total":250}}`, 7, 7, 1},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, nil, func(_ int, w http.ResponseWriter, r *http.Request) {
				var page, limit int
				fmt.Sscan(r.URL.Query().Get("page"), &page)
				fmt.Sscan(r.URL.Query().Get("limit"), &limit)
				ids := []int{}
				for i := (page - 1) * limit; i < min(page*limit, 250); i++ {
					ids = append(ids, i)
				}
				b, _ := json.Marshal(ids)
				fmt.Fprintf(w, c.envelope, b)
			})
			var got []string
			for raw, err := range tr.Records(t.Context(), Request{Method: "GET", Path: "/x"}, c.limit, true) {
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(raw))
			}
			if len(got) != c.want || got[c.want-1] != strconv.Itoa(c.want-1) || len(tr.sent()) != c.wantRequests {
				t.Errorf("%d records by %d requests, want %d by %d", len(got), len(tr.sent()), c.want, c.wantRequests)
			}
		})
	}
}

func TestCursor_FollowsThePieces(t *testing.T) {
	tr := newTrial(t, nil, func(_ int, w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, `{"data":"`+map[string]string{"": "b", "b": "c"}[r.URL.Query().Get("cursor")]+`"}`)
	})
	var got []string
	err := tr.Cursor(t.Context(), Request{Method: "GET", Path: "/x"}, func(data json.RawMessage) (string, error) {
		got = append(got, string(data))
		return strings.Trim(string(data), `"`), nil
	})
	if err != nil || !slices.Equal(got, []string{`"b"`, `"c"`, `""`}) {
		t.Errorf("%q: %v", got, err)
	}
}

func TestJob_PollsTheAddressOfTheAnswer(t *testing.T) {
	tr := newTrial(t, nil, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusAccepted)
		}
		fmt.Fprintf(w, `{"data":{"statusURL":"/jobs/1","n":%d}}`, n)
	})
	err := tr.Job(t.Context(), Request{Method: "POST", Path: "/x", Body: 1}, func(data json.RawMessage) (bool, error) {
		return strings.Contains(string(data), `"n":4`), nil
	})
	if err != nil || len(tr.sent()) != 4 || tr.sent()[3].URL.Path != "/jobs/1" {
		t.Errorf("%d requests: %v", len(tr.sent()), err)
	}
	if want := []time.Duration{time.Second, 1500 * time.Millisecond}; !slices.Equal(tr.watch.slept, want) {
		t.Errorf("slept %v, want %v", tr.watch.slept, want)
	}
}

func TestJob_AnAddressElsewhereIsRefused(t *testing.T) {
	tr := newTrial(t, Static("t"), answer(202, `{"data":{"statusURL":"https://elsewhere.example.com/"}}`))
	err := tr.Job(t.Context(), Request{Method: "POST", Path: "/x"}, func(json.RawMessage) (bool, error) {
		return false, nil
	})
	if err == nil || len(tr.sent()) != 1 {
		t.Errorf("%d requests: %v", len(tr.sent()), err)
	}
}
