package fuzz

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/cmd/lamplighter/local"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/attempts"
)

// ledger counts the audit rows that should exist, by operation and status.
type ledger struct {
	mu      sync.Mutex
	changes map[string]bool // operations that change something
	want    map[string]int
	may     map[string]int // recorded only if the gateway passed the request on; the answer does not tell
	made    []string       // organizations, whose own records begin with their making
}

func newLedger(s *probe.Service) *ledger {
	l := &ledger{changes: map[string]bool{}, want: map[string]int{}, may: map[string]int{}}
	for _, ops := range local.Operations(s.Platform) {
		for i := range ops {
			// workers report by themselves
			l.changes[ops[i].ID] = ops[i].Changes() && ops[i].Worker == ""
		}
	}
	return l
}

// saw counts an answer to an operation. It ignores answers that are no change and no attempted change: answers of the
// gateway itself, replayed answers to an Idempotency-Key, other methods than the operation's, and paths that lead to
// no operation.
func (l *ledger) saw(id string, answer *httptest.ResponseRecorder) {
	page := strings.HasPrefix(answer.Header().Get("Content-Type"), "text/html")
	if !l.changes[id] || page && id != "wake" && id != "unsubscribe" && id != "setPasswordByPage" ||
		answer.Header().Get("Idempotency-Replayed") != "" || answer.Code == http.StatusMethodNotAllowed {
		return
	}
	if id == "submitBulkAction" && strings.Contains(answer.Body.String(), `"status":"planned"`) {
		return // a dry run changes nothing
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	entry := fmt.Sprint(id, " ", answer.Code)
	// a page of a wake link may come from the gateway
	if page || answer.Body.String() == `{"error":{"message":"not found"}}` {
		l.may[entry]++
		return
	}
	l.want[entry]++
	if entry == "createOrganisation 200" {
		_, id, _ := strings.Cut(answer.Body.String(), `"id":"`)
		id, _, _ = strings.Cut(id, `"`)
		l.made = append(l.made, id)
	}
}

// auditRows returns the rows of organizations and of the installation since the start, by operation and status. Each
// chain must hold.
func auditRows(t *testing.T, s *probe.Service, orgs ...string) map[string]int {
	t.Helper()
	out, ctx := map[string]int{}, table.Within(t.Context(), "")
	places := audit.SystemPlaces()
	for _, org := range orgs {
		places = append(places, audit.PlaceOf(org))
	}
	for _, at := range places {
		if _, err := audit.New(s.Platform).Link(t.Context(), at, func() bool { return false }); err != nil {
			t.Error(err)
		}
		v, err := audit.VerifyChain(ctx, s.Platform.Table, at, nil, func(int64) bool { return false })
		if err != nil || !v.Holds {
			t.Errorf("%s: %+v %v", at.PK, v, err)
		}
		for q := (table.Query{PK: at.PK, Limit: 1000}); ; {
			page, err := s.Platform.Table.Query(ctx, q)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := table.DecodeAll[audit.Row](page.Items)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				if rows[i].ID == "" || isCount(&rows[i]) { // the end of the chain has no id
					continue
				}
				out[fmt.Sprint(rows[i].Action, " ", rows[i].Status)]++
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				break
			}
		}
	}
	return out
}

// isCount reports whether a row tells an organization of attempts: the request has a row besides, of the installation.
func isCount(r *audit.Row) bool {
	var after attempts.Counted
	b, err := json.Marshal(r.Changes.After)
	return err == nil && json.Unmarshal(b, &after) == nil && after.Count > 0 && after.Note != ""
}

// agree checks that there is a row for each change and each refused change since before, and no other row.
func (l *ledger) agree(t *testing.T, before, after map[string]int) {
	t.Helper()
	all := map[string]bool{}
	for k := range maps.Keys(l.want) {
		all[k] = true
	}
	for k := range maps.Keys(after) {
		id, _, _ := strings.Cut(k, " ")
		all[k] = l.changes[id]
	}
	maps.DeleteFunc(all, func(_ string, changes bool) bool { return !changes })
	n := 0
	for _, k := range slices.Sorted(maps.Keys(all)) {
		if got := after[k] - before[k]; got < l.want[k] || got > l.want[k]+l.may[k] {
			t.Errorf("%s: %d rows on record for %d answers, and %d that may be", k, got, l.want[k], l.may[k])
		}
		n += l.want[k]
	}
	t.Logf("%d changes and refused changes, each on record", n)
}
