package integrations

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

// deletedIssue is a Jira whose first issue is deleted; two deliveries find that out at the same time.
type deletedIssue struct {
	created, comments atomic.Int64
	gone              atomic.Bool
	both              sync.WaitGroup
}

func (d *deletedIssue) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case strings.HasSuffix(r.URL.Path, "/search/jql"):
		answer(w, http.StatusOK, map[string]any{"issues": []any{}})
	case strings.HasSuffix(r.URL.Path, "/OPS-1/comment") && d.gone.Load():
		d.both.Done()
		d.both.Wait()
		answer(w, http.StatusNotFound, map[string]any{"errorMessages": []string{"Issue does not exist"}})
	case strings.HasSuffix(r.URL.Path, "/comment"):
		d.comments.Add(1)
		answer(w, http.StatusCreated, map[string]string{"id": "1"})
	default:
		answer(w, http.StatusCreated, map[string]string{"key": "OPS-" + string('0'+rune(d.created.Add(1)))})
	}
}

// TestJira_ADeletedIssueIsCreatedAgainOnce: if two deliveries find the issue of their thread deleted, one creates a
// new issue and the other uses it.
func TestJira_ADeletedIssueIsCreatedAgainOnce(t *testing.T) {
	f, site := newFixture(t), &deletedIssue{}
	server := httptest.NewServer(site)
	t.Cleanup(server.Close)
	to, e := f.connect("jira", map[string]string{"siteURL": server.URL}).ID, of("budget.warning", "org", "", "bud_1")
	f.sent(to, e)
	site.gone.Store(true)
	site.both.Add(2)
	var wg sync.WaitGroup
	errs := make([]error, 2)
	for i, id := range []string{"dlv_1", "dlv_2"} {
		wg.Go(func() { _, errs[i] = f.send(to, e, id) })
	}
	wg.Wait()
	late := 0
	for i, err := range errs {
		if fault.Is(err, fault.Unavailable) {
			late = i
		} else if err != nil {
			t.Errorf("%v", err)
		}
	}
	if n := site.created.Load(); n != 2 || (errs[0] == nil) == (errs[1] == nil) {
		t.Errorf("%d issues are created, %v; want the deleted one and one more, and one delivery that follows", n, errs)
	}
	f.Clock.Advance(2 * time.Minute)
	a, err := f.send(to, e, []string{"dlv_1", "dlv_2"}[late])
	if err != nil || a.Message != "told in OPS-2" || site.created.Load() != 2 || site.comments.Load() != 1 {
		t.Errorf("the one that follows: %+v, %v, %d comments", a, err, site.comments.Load())
	}
}
