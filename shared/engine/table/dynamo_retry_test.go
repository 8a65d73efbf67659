package table_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// script is a service that returns prepared answers, and records the requests.
type script struct {
	mu      sync.Mutex
	answers []answer
	targets []string
	bodies  []string
}

// answer is one response; status 0 breaks the connection.
type answer struct {
	status int
	body   string
}

// ServeHTTP returns the next answer.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, _ := io.ReadAll(r.Body)
	s.targets = append(s.targets, strings.TrimPrefix(r.Header.Get("X-Amz-Target"), "DynamoDB_20120810."))
	s.bodies = append(s.bodies, string(body))
	a := answer{status: http.StatusInternalServerError, body: `{}`}
	if len(s.answers) > 0 {
		a, s.answers = s.answers[0], s.answers[1:]
	}
	if a.status == 0 {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.WriteHeader(a.status)
	_, _ = io.WriteString(w, a.body)
}

// asked returns the calls so far. A call whose connection broke may still be in ServeHTTP.
func (s *script) asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.targets)
}

// The answers.
var (
	fine      = answer{200, `{}`}
	lost      = answer{}
	broken    = answer{500, `{"__type":"com.amazonaws.dynamodb.v20120810#InternalServerError","message":"broken"}`}
	throttled = answer{
		400,
		`{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`,
	}
	conflict = answer{
		400,
		`{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","message":"no",` +
			`"CancellationReasons":[{"Code":"TransactionConflict"}]}`,
	}
	unmet = answer{
		400,
		`{"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException","message":"no",` +
			`"Item":{"pk":{"S":"p"},"sk":{"S":"1"},"owner":{"S":"me"}}}`,
	}
	undone  = answer{200, `{"UnprocessedItems":{"t":[{"PutRequest":{"Item":{"pk":{"S":"p"},"sk":{"S":"1"}}}}]}}`}
	unread  = answer{200, `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"p"},"sk":{"S":"1"}}]}}}`}
	refusal = answer{
		400,
		`{"__type":"com.amazon.coral.validate#ValidationException","message":"An operand in the update expression ` +
			`has an incorrect data type"}`,
	}
)

func TestDynamoRepeatsWhatMayBeRepeated(t *testing.T) {
	k := table.Key{PK: "p", SK: "1"}
	item := func(owner string) table.Item { return table.Item{Key: k, Data: []byte(`{"owner":"` + owner + `"}`)} }
	write := func(w table.Write) func(context.Context, table.Store) error {
		return func(ctx context.Context, s table.Store) error { _, err := s.Write(ctx, w); return err }
	}
	get := func(ctx context.Context, s table.Store) error { _, err := s.Get(ctx, k); return err }
	for _, c := range []struct {
		name    string
		answers []answer
		call    func(context.Context, table.Store) error
		calls   int
		want    error
		kind    fault.Kind
	}{
		{
			"a read after throttling, a failure and a lost reply",
			[]answer{throttled, broken, lost, fine},
			get, 4, nil,
			fault.NotFound,
		},
		{"a put after a lost reply", []answer{lost, fine}, write(table.Put(item("me"))), 2, nil, 0},
		{
			"an add after throttling",
			[]answer{throttled, {200, `{"Attributes":{"pk":{"S":"p"},"sk":{"S":"1"}}}`}},
			write(table.Update(k, []table.Change{table.Add("n", 1)})), 2, nil, 0,
		},
		{
			"no add after a lost reply",
			[]answer{lost, fine},
			write(table.Update(k, []table.Change{table.Add("n", 1)})),
			1, table.ErrLost, fault.Unavailable,
		},
		{
			"no add after a failure of the service",
			[]answer{broken, fine},
			write(table.Update(k, []table.Change{table.Add("n", 1)})), 1, table.ErrLost, fault.Unavailable,
		},
		{
			"a put that finds itself after a lost reply succeeded",
			[]answer{lost, unmet},
			write(table.Put(item("me"), table.Absent())), 2, nil, 0,
		},
		{
			"a put that finds another after a lost reply is unclear",
			[]answer{lost, unmet},
			write(table.Put(item("you"), table.Absent())), 2, table.ErrLost, fault.Unavailable,
		},
		{
			"a put that finds another at once lost",
			[]answer{unmet},
			write(table.Put(item("you"), table.Absent())), 1,
			nil, fault.Conflict,
		},
		{
			"a transaction after a conflict and a lost reply",
			[]answer{conflict, lost, fine},
			func(ctx context.Context, s table.Store) error {
				return s.Transact(ctx, table.Update(k, []table.Change{table.Add("n", 1)}))
			}, 3, nil, 0,
		},
		{
			"a batch write of what was left undone",
			[]answer{undone, throttled, undone, fine},
			func(ctx context.Context, s table.Store) error {
				return s.BatchWrite(ctx, table.Put(item("me")))
			}, 4, nil, 0,
		},
		{
			"a batch get of what was left out",
			[]answer{unread, unread, fine},
			func(ctx context.Context, s table.Store) error {
				_, err := s.BatchGet(ctx, k)
				return err
			}, 3, nil, 0,
		},
		{
			"nothing that was refused for good",
			[]answer{refusal},
			write(table.Update(k, []table.Change{table.Add("owner", 1)})), 1, nil, fault.Invalid,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{answers: c.answers}
			srv := httptest.NewServer(s)
			defer srv.Close()
			d := table.NewDynamoDB(table.Remote{Table: "t", Region: "r", Endpoint: srv.URL, KeyID: "k", Secret: "s"})
			err := c.call(t.Context(), d)
			if asked := s.asked(); len(asked) != c.calls {
				t.Errorf("%d calls were made, want %d: %q", len(asked), c.calls, asked)
			}
			switch {
			case c.want != nil && !errors.Is(err, c.want), c.kind == 0 && c.want == nil && err != nil, c.kind != 0 &&
				!fault.Is(err, c.kind):
				t.Errorf("error = %v (kind %v), want %v (kind %v)", err, fault.KindOf(err), c.want, c.kind)
			}
		})
	}
}

func TestDynamoRepeatsATransactionWithItsToken(t *testing.T) {
	s := &script{answers: []answer{lost, broken, fine}}
	srv := httptest.NewServer(s)
	defer srv.Close()
	d := table.NewDynamoDB(table.Remote{Table: "t", Region: "r", Endpoint: srv.URL, KeyID: "k", Secret: "s"})
	if err := d.Transact(t.Context(),
		table.Update(table.Key{PK: "p", SK: "1"}, []table.Change{table.Add("n", 1)})); err != nil {
		t.Fatal(err)
	}
	if len(s.bodies) != 3 || !sameJSON(t, s.bodies[0], s.bodies[1]) || !sameJSON(t, s.bodies[1], s.bodies[2]) ||
		!strings.Contains(s.bodies[0], "ClientRequestToken") {
		t.Errorf("the attempts differ: %q", s.bodies)
	}
}

// sameJSON reports whether two JSON texts are equal regardless of the order of members.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	var x, y any
	if err := errors.Join(json.Unmarshal([]byte(a), &x), json.Unmarshal([]byte(b), &y)); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}

func TestDynamoGivesUpInTime(t *testing.T) {
	s := &script{answers: []answer{
		throttled, throttled, throttled, throttled, throttled, throttled, throttled,
		throttled, throttled, throttled, throttled,
	}}
	srv := httptest.NewServer(s)
	defer srv.Close()
	d := table.NewDynamoDB(table.Remote{Table: "t", Region: "r", Endpoint: srv.URL, KeyID: "k", Secret: "s"})
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err := d.Get(ctx, table.Key{PK: "p", SK: "1"})
	if !errors.Is(err, table.ErrThrottled) && !errors.Is(err, table.ErrDown) || time.Since(start) > 2*time.Second {
		t.Errorf("after %v: %v, want it given up as throttled", time.Since(start), err)
	}
}

// pauses is a clock that records sleeps and does not wait.
type pauses struct {
	clock.System
	mu    sync.Mutex
	slept []time.Duration
}

// Sleep records d.
func (p *pauses) Sleep(ctx context.Context, d time.Duration) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.slept = append(p.slept, d)
	return ctx.Err()
}

// leftOf is the response of the service to a batch that left out the items with the sort keys.
func leftOf(write bool, sks ...string) answer {
	for i, sk := range sks {
		sks[i] = `{"pk":{"S":"p"},"sk":{"S":"` + sk + `"}}`
		if write {
			sks[i] = `{"PutRequest":{"Item":` + sks[i] + `}}`
		}
	}
	if write {
		return answer{200, `{"UnprocessedItems":{"t":[` + strings.Join(sks, ",") + `]}}`}
	}
	return answer{200, `{"Responses":{},"UnprocessedKeys":{"t":{"Keys":[` + strings.Join(sks, ",") + `]}}}`}
}

func TestDynamo_PausesBeforeTheRestOfABatch(t *testing.T) {
	keys := []table.Key{{PK: "p", SK: "1"}, {PK: "p", SK: "2"}, {PK: "p", SK: "3"}}
	for name, c := range map[string]struct {
		left  [][]string // sort keys, for each response
		calls int
		want  error
	}{
		"everything is done at once":  {nil, 1, nil},
		"a part is done each time":    {[][]string{{"2", "3"}, {"3"}}, 3, nil},
		"nothing is done for a while": {[][]string{{"1", "2", "3"}, {"1", "2", "3"}, {"3"}}, 4, nil},
		"a part begins the attempts anew": {append(slices.Repeat([][]string{{"1", "2", "3"}}, 7),
			slices.Repeat([][]string{{"3"}}, 7)...), 15, nil},
		"the rest is given up": {slices.Repeat([][]string{{"3"}}, 20), 8, table.ErrThrottled},
	} {
		for verb, call := range map[string]func(context.Context, table.Store) error{
			"write": func(ctx context.Context, s table.Store) error {
				var ws []table.Write
				for _, k := range keys {
					ws = append(ws, table.Put(table.Item{Key: k, Data: []byte(`{}`)}))
				}
				return s.BatchWrite(ctx, ws...)
			},
			"get": func(ctx context.Context, s table.Store) error { _, err := s.BatchGet(ctx, keys...); return err },
		} {
			t.Run(name+": "+verb, func(t *testing.T) {
				s, p := &script{}, &pauses{}
				for _, sks := range c.left {
					s.answers = append(s.answers, leftOf(verb == "write", slices.Clone(sks)...))
				}
				s.answers = append(s.answers, fine)
				srv := httptest.NewServer(s)
				defer srv.Close()
				d := table.NewDynamoDB(table.Remote{
					Table: "t", Region: "r", Endpoint: srv.URL, KeyID: "k", Secret: "s",
					Clock: p,
				})
				err := call(t.Context(), d)
				if asked := s.asked(); !errors.Is(err, c.want) || len(asked) != c.calls || len(p.slept) != c.calls-1 {
					t.Errorf("%d calls and %d pauses, %v; want %d, each but the first after a pause, and %v",
						len(asked), len(p.slept), err, c.calls, c.want)
				}
			})
		}
	}
}
