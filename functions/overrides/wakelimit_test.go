package overrides

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/override"
	"lamplighter.dev/shared/testkit/apitest"
)

// The limit holds however many links are made at once.
func TestWakeLink_ManyAtOnceStayWithinTheLimit(t *testing.T) {
	a := newFixture(t)
	const before, atOnce = maxLinks - 3, 12
	for range before {
		a.call("POST /resources/"+a.ids[5]+"/wake-links", map[string]any{}).Want(200)
	}
	var wg sync.WaitGroup
	var made, refused atomic.Int64
	for range atOnce {
		wg.Go(func() {
			for {
				w := a.call("POST /resources/"+a.ids[5]+"/wake-links", map[string]any{})
				switch {
				case w.Status == http.StatusOK:
					made.Add(1)
				case strings.Contains(w.Body, "which is the most"):
					refused.Add(1)
				case strings.Contains(w.Body, "try again"):
					continue
				default:
					a.Errorf("%s", w)
				}
				return
			}
		})
	}
	wg.Wait()
	if n := len(apitest.Rows[link](a.Fixture, override.WakeLinkPK(ours))) - 1; made.Load() != 3 ||
		refused.Load() != atOnce-3 || n != maxLinks {
		t.Errorf("%d made, %d refused, %d links", made.Load(), refused.Load(), n)
	}
	listed := apitest.Data[rest.List[WakeLink]](a.call("GET /wake-links?limit=100"))
	if listed.Total != maxLinks {
		t.Errorf("%d are listed", listed.Total)
	}
}
