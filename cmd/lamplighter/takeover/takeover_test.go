package takeover_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// wire is an HTTP client that never retries a request, unlike net/http's. It keeps its connection as long as the
// server permits.
type wire struct {
	address string
	token   string
	close   bool // ask for the end of the connection with each request

	conn  net.Conn
	in    *bufio.Reader
	dials int
}

// ask sends a request and returns status and body of the answer.
func (w *wire) ask(method, path, body string) (int, string, error) {
	if w.conn == nil {
		conn, err := net.Dial("tcp", w.address)
		if err != nil {
			return 0, "", err
		}
		w.conn, w.in, w.dials = conn, bufio.NewReader(conn), w.dials+1
	}
	req, err := http.NewRequest(method, "http://"+w.address+path, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Close = w.close
	req.Header.Set("Content-Type", "application/json")
	if w.token != "" {
		req.Header.Set("Authorization", "Bearer "+w.token)
	}
	if err = req.Write(w.conn); err != nil {
		return 0, "", err
	}
	res, err := http.ReadResponse(w.in, req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if res.Close {
		w.conn.Close()
		w.conn = nil
	}
	return res.StatusCode, string(answer), err
}

// call makes a request that must succeed, and decodes the data of its answer.
func call[T any](t *testing.T, w *wire, method, path string, in any) (out T) {
	t.Helper()
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			t.Fatal(err)
		}
	}
	status, answer, err := w.ask(method, path, body.String())
	wrapped := struct{ Data *T }{&out}
	if err != nil || status != http.StatusOK || json.Unmarshal([]byte(answer), &wrapped) != nil {
		t.Fatalf("%s %s: %d %v %s", method, path, status, err, answer)
	}
	return out
}

// newWire returns a client of the service, logged in as the demo's user on request.
func (s *stage) newWire(login bool) *wire {
	s.t.Helper()
	w := &wire{address: strings.TrimPrefix(s.base, "http://")}
	if !login {
		return w
	}
	email, password, _ := strings.Cut(s.await(regexp.MustCompile(`Login +(\S+ / \S+)`)), " / ")
	got := call[struct{ AccessToken string }](s.t, w, http.MethodPost, "/auth/login",
		map[string]string{"email": email, "password": password, "provider": "email"})
	w.token = got.AccessToken
	return w
}

// eventually calls ok twice a second until it returns true: requests of an organization are limited to 100 a minute.
func eventually(t *testing.T, ok func() bool) {
	t.Helper()
	each := time.NewTicker(500 * time.Millisecond)
	defer each.Stop()
	for !ok() {
		select {
		case <-each.C:
		case <-t.Context().Done():
			t.Fatal("it did not come about")
		}
	}
}

func TestTakeover_LosesNoRequest(t *testing.T) {
	s := startStage(t)
	idle := s.newWire(false)
	if status, _, err := idle.ask(http.MethodGet, "/healthz", ""); status != http.StatusOK {
		t.Fatalf("%d, %v", status, err)
	}
	var answered atomic.Int64
	var load sync.WaitGroup
	stop := make(chan struct{})
	for i := range 8 {
		w := s.newWire(false)
		w.close = i%4 == 3 // a new connection for each request
		load.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				status, answer, err := w.ask(http.MethodGet, "/healthz", "")
				if err != nil || status != http.StatusOK {
					t.Errorf("client %d: %d %v %s", i, status, err, answer)
					return
				}
				answered.Add(1)
			}
		})
	}
	writer, groups := s.newWire(true), make(chan int)
	had := countGroups(t, writer)
	load.Go(func() {
		n := 0
		for ; n < 40; n++ {
			body := fmt.Sprintf(`{"name":"Takeover %d"}`, n)
			if status, answer, err := writer.ask(http.MethodPost, "/resource-groups", body); err != nil ||
				status != http.StatusOK {
				t.Errorf("group %d: %d %v %s", n, status, err, answer)
				break
			}
			if n == 5 {
				groups <- n
			}
		}
		groups <- n
	})
	<-groups
	s.takeOver()
	made, before := <-groups, answered.Load()
	eventually(t, func() bool { return answered.Load() > before+100 || t.Failed() })
	close(stop)
	load.Wait()
	if status, _, err := idle.ask(http.MethodGet, "/healthz", ""); status != http.StatusOK || idle.dials != 1 {
		t.Errorf("the idle connection: %d, %v, %d dials", status, err, idle.dials)
	}
	if all := countGroups(t, writer); all != had+made {
		t.Errorf("%d groups besides the %d of before, of %d that were answered", all-had, had, made)
	}
	t.Logf("%d requests answered; %s", answered.Load(), s.await(regexp.MustCompile(`(took over in \S+)\.`)))
}

func countGroups(t *testing.T, w *wire) int {
	t.Helper()
	return call[struct{ Total int }](t, w, http.MethodGet, "/resource-groups?limit=1", nil).Total
}

func TestTakeover_DuringABulkActionActsOnEachMemberOnce(t *testing.T) {
	s := startStage(t)
	w := s.newWire(true)
	var ids []string
	for _, r := range call[[]struct{ ID, UID string }](t, w, http.MethodGet,
		"/resources?status=running&schedulable=true&limit=100", nil) {
		ids = append(ids, r.ID)
	}
	if len(ids) < 20 {
		t.Fatalf("%d resources run", len(ids))
	}
	for _, a := range call[struct{ Items []struct{ ID string } }](t, w, http.MethodGet, "/cloud-accounts", nil).Items {
		s.accounts = append(s.accounts, a.ID)
	}
	begun := call[struct{ BulkActionID string }](t, w, http.MethodPost, "/actions/bulk",
		map[string]any{"type": "stop", "resourceIDs": ids})
	s.takeOver()
	type bulk struct{ Total, Completed, Failed int }
	got := call[bulk](t, w, http.MethodGet, "/actions/bulk/"+begun.BulkActionID, nil)
	if got.Completed == len(ids) {
		t.Fatal("the bulk action ended before the takeover, so nothing is shown")
	}
	eventually(t, func() bool {
		got = call[bulk](t, w, http.MethodGet, "/actions/bulk/"+begun.BulkActionID, nil)
		return got.Completed+got.Failed == got.Total && got.Total > 0
	})
	if got.Completed != len(ids) {
		t.Errorf("%+v of %d", got, len(ids))
	}
	s.stop()
	if once, twice := s.stops(); once != len(ids) || twice != 0 {
		t.Errorf("the clouds stopped %d of %d resources once, and %d more than once", once, len(ids), twice)
	}
}

// stops counts the resources that the simulated clouds stopped once, and more than once, from the clouds' logs.
func (s *stage) stops() (once, twice int) {
	s.t.Helper()
	store, err := table.Open(filepath.Join(s.dir, "store.db"),
		table.Options{Clock: clock.System{}, Layout: platform.Layout})
	if err != nil {
		s.t.Fatal(err)
	}
	defer store.Close()
	type node struct {
		account      string
		kind, region uint8
		number       uint32
	}
	stopped := map[node]int{}
	for _, account := range s.accounts {
		page, err := store.Query(table.Within(s.t.Context(), "SIM#"),
			table.Query{PK: "SIM#" + account, Prefix: "L#", Limit: 5000})
		if err != nil {
			s.t.Fatal(err)
		}
		for _, it := range page.Items {
			e, err := table.Decode[struct {
				Kind   uint8 `json:"kind"`
				Region uint8 `json:"region"`
				Moves  []struct {
					Number uint32 `json:"n"`
					On     bool   `json:"on"`
				} `json:"moves"`
			}](it)
			if err != nil {
				s.t.Fatal(err)
			}
			for _, m := range e.Moves {
				if !m.On {
					stopped[node{account, e.Kind, e.Region, m.Number}]++
				}
			}
		}
	}
	for _, n := range stopped {
		if n == 1 {
			once++
		} else {
			twice++
		}
	}
	return once, twice
}

func TestTakeover_ConnectsAccountsThatWaited(t *testing.T) {
	cloud := &awstwin.Cloud{}
	cloud.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(1), Region: "eu-west-1"})
	server := httptest.NewServer(cloud)
	t.Cleanup(server.Close)
	s := startStage(t)
	w := s.newWire(true)
	compiling := regexp.MustCompile(
		`^support for AWS, Azure, Google Cloud and Kubernetes is being compiled, about \d+ seconds left$`)
	type account struct{ ID, Status, Error string }
	account1 := map[string]any{
		"provider": "aws", "cloudAccountID": awstwin.Account, "name": "Real", "authMethod": "static_keys",
		"permissionLevel": "read_write", "endpointURL": server.URL, "regions": []string{"eu-west-1"},
		"credentials": map[string]string{
			"accessKeyID": awstwin.AccessKey, "secretAccessKey": "a-secret-of-the-account",
		},
	}
	right := call[account](t, w, http.MethodPost, "/cloud-accounts", account1)
	account1["cloudAccountID"], account1["name"] = "999999999999", "Wrong"
	wrong := call[account](t, w, http.MethodPost, "/cloud-accounts", account1)
	for _, a := range []account{right, wrong, call[account](t, w, http.MethodGet, "/cloud-accounts/"+right.ID, nil)} {
		if a.Status != "connecting" || !compiling.MatchString(a.Error) {
			t.Errorf("%+v", a)
		}
	}
	s.takeOver()
	var got [2]account
	eventually(t, func() bool {
		for i, a := range []account{right, wrong} {
			got[i] = call[account](t, w, http.MethodGet, "/cloud-accounts/"+a.ID, nil)
		}
		return got[0].Status != "connecting" && got[1].Status != "connecting"
	})
	if got[0].Status != "connected" || got[0].Error != "" {
		t.Errorf("the account: %+v", got[0])
	}
	if got[1].Status != "disconnected" ||
		!strings.Contains(got[1].Error, "open account "+awstwin.Account+", not 999999999999") {
		t.Errorf("the account of another number: %+v", got[1])
	}
}

func TestTakeover_GoesOnWhenTheCompilationFails(t *testing.T) {
	s := startStage(t)
	s.endCompilation("1")
	s.await(regexp.MustCompile(`(could not be compiled, and is missing: a.go:1:1: broken)`))
	w := s.newWire(true)
	got := call[struct{ Status, Error string }](t, w, http.MethodPost, "/cloud-accounts", map[string]any{
		"provider": "aws", "cloudAccountID": "111122223333", "name": "Real", "authMethod": "static_keys",
		"permissionLevel": "read_write",
		"credentials": map[string]string{
			"accessKeyID": "AKIAIOSFODNN7EXAMPLE", "secretAccessKey": "a-secret-of-the-account",
		},
	})
	if got.Status != "connecting" || !strings.Contains(got.Error, "could not be compiled (a.go:1:1: broken") {
		t.Errorf("%+v", got)
	}
}
