package auditlogs_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/functions/auditlogs"
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/tabletest"
)

// process is one of many that serve an organization from one store: an operation that changes something, and the log.
func process(s table.Store) http.Handler {
	p := &platform.Platform{
		Table: table.Fenced(s), Clock: clock.System{}, Log: slog.New(slog.DiscardHandler),
		Workers: lambdacall.Local{},
	}
	g := rest.NewGroup("Resources")
	type thing struct {
		ID string `json:"id"`
	}
	rest.Handle(g, rest.Op{
		ID: "putThing", Method: http.MethodPut, Path: "/things/{thingID}", Policy: "resources:write",
	},
		func(ctx context.Context, in *struct {
			ThingID string `path:"thingID"`
		},
		) (thing, error) {
			k := table.Key{PK: table.OrgPK(apitest.Org) + "THING#" + in.ThingID, SK: in.ThingID}
			return thing{in.ThingID}, p.Table.Transact(ctx, table.Put(table.Item{Key: k}, table.Absent()))
		})
	h, _ := rest.Mount(p, g, auditlogs.Operations(p))
	return h
}

// askHandler asks as somebody who may do everything.
func askHandler(t *testing.T, h http.Handler, request string) apitest.Answer {
	t.Helper()
	return (&apitest.Fixture{TB: t, Handler: h}).Call(apitest.Caller(apitest.Org, "ada", "*:*"), request)
}

// A thousand changes of one organization in one second, at fifty processes, on a store that throttles and conflicts as
// DynamoDB: each is answered with 200, and who asks then finds all of them, in bounded time, in a chain that holds.
func TestAThousandChangesInASecondAreAllAcknowledgedAndListed(t *testing.T) {
	for _, hold := range []time.Duration{5 * time.Millisecond, 20 * time.Millisecond} {
		t.Run(hold.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { loadAndList(t, hold) })
		})
	}
}

func loadAndList(t *testing.T, hold time.Duration) {
	t.Helper()
	limited := table.NewLimitedStore(tabletest.New(t), clock.System{},
		table.Limits{ReadUnits: 3000, WriteUnits: 1000, Hold: hold})
	processes := make([]http.Handler, 50)
	for i := range processes {
		processes[i] = process(limited)
	}
	var all sync.WaitGroup
	began := time.Now()
	for i := range 1000 {
		all.Go(func() {
			_ = clock.System{}.Sleep(t.Context(), time.Duration(i)*time.Millisecond)
			if w := askHandler(t, processes[i%len(processes)],
				fmt.Sprint("PUT /things/", i)); w.Status != http.StatusOK {
				t.Errorf("change %d: %s", i, w)
			}
		})
	}
	all.Wait()
	changed := time.Since(began)
	began = time.Now()
	got := apitest.Data[rest.List[audit.Row]](askHandler(t, processes[0], "GET /audit-logs"))
	listed := time.Since(began)
	t.Logf("hold %s: changed within %s, listed within %s, %+v", hold, changed, listed, conflicts(limited))
	if changed > 2*time.Second || listed > 5*time.Second {
		t.Error("that is too slow")
	}
	if got.Total != 1000 || len(got.Items) != 20 || got.Items[0].Status != 200 {
		t.Errorf("%d rows, the last of them %+v", got.Total, got.Items[0])
	}
	if v := apitest.Data[audit.Verdict](askHandler(t, processes[1], "GET /audit-logs/verify")); !v.Holds ||
		v.Rows != 1000 {
		t.Errorf("%+v", v)
	}
}

// conflicts returns the store's refused writes.
func conflicts(s *table.LimitedStore) table.LimitReport {
	r := s.Report()
	r.Peaks = nil
	return r
}
