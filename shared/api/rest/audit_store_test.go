package rest_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// failing is a service whose store fails on demand.
type failing struct {
	p   *platform.Platform // with the store that does not fail
	f   *table.FaultyStore
	log bytes.Buffer
	h   http.Handler
}

func newFailing(t *testing.T) *failing {
	t.Helper()
	c := clock.System{}
	s := &failing{p: &platform.Platform{Table: table.Fenced(tabletest.New(t)), Clock: c}}
	s.f = table.NewFaultyStore(s.p.Table, c)
	p := s.p.Clone()
	p.Table, p.Log = table.Fenced(s.f), slog.New(slog.NewJSONHandler(&s.log, nil))
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{
		ID: "putThing", Method: http.MethodPut, Path: "/things/{thingID}",
		Policy: "resources:write",
	},
		func(ctx context.Context, in *struct {
			ThingID string `path:"thingID"`
		},
		) (Thing, error) {
			k := table.Key{PK: table.OrgPK("org_1") + "THING", SK: in.ThingID}
			err := p.Table.Transact(ctx, table.Put(table.Item{Key: k}, table.Absent()))
			if fault.Is(err, fault.Conflict) {
				err = fault.New(fault.Conflict, "there is one")
			}
			return Thing{ID: in.ThingID}, err
		})
	s.h, _ = rest.Mount(p, g)
	return s
}

// put creates the thing t1.
func (s *failing) put() int {
	w := httptest.NewRecorder()
	s.h.ServeHTTP(w, withCaller(httptest.NewRequest(http.MethodPut, "/things/t1", http.NoBody), anna))
	return w.Code
}

// on returns the recorded rows, by target and status.
func (s *failing) on(t *testing.T) string {
	t.Helper()
	var out []string
	for _, r := range recordedRows(t, s.p, audit.PlaceOf("org_1")) {
		out = append(out, fmt.Sprint(r.Target, " ", r.Status))
	}
	return strings.Join(out, ", ")
}

// A committed change is answered with success and recorded, even if its last entry cannot be stored.
func TestAChangeThatIsCommittedIsNeverAnsweredWithAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFailing(t)
		s.f.Inject(table.Injection{Harm: table.FailBefore, Method: table.WriteMethod, PK: "ORG#org_1#AUDITIN"})
		if got := s.put(); got != http.StatusOK {
			t.Errorf("answered with %d", got)
		}
		if !strings.Contains(s.log.String(), "audit row not written") {
			t.Errorf("the log says %s", &s.log)
		}
		if got := s.on(t); got != "" {
			t.Errorf("before it is known that nothing more will come: %s", got)
		}
		_ = clock.System{}.Sleep(t.Context(), 6*time.Minute)
		if got := s.on(t); got != "t1 0" {
			t.Errorf("on record: %s", got)
		}
	})
}

// A change without its entry is not committed.
func TestAChangeThatCannotBePutOnRecordIsNotCommitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFailing(t)
		s.f.Inject(table.Injection{Harm: table.FailBefore, PK: "ORG#org_1#AUDITIN"})
		if got := s.put(); got != http.StatusInternalServerError {
			t.Errorf("answered with %d", got)
		}
		s.f.RemoveFaults()
		if got := s.put(); got != http.StatusOK {
			t.Errorf("it was there: %d", got)
		}
		if got := s.on(t); got != "t1 200" {
			t.Errorf("on record: %s", got)
		}
	})
}

// A refusal changes nothing, so it is sent even if it cannot be recorded; the log contains the row.
func TestARefusalThatCannotBePutOnRecordStaysOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFailing(t)
		s.put()
		s.f.Inject(table.Injection{Harm: table.FailBefore, Method: table.WriteMethod, PK: "ORG#org_1#AUDITIN"})
		if got := s.put(); got != http.StatusConflict {
			t.Errorf("answered with %d", got)
		}
		if log := s.log.String(); !strings.Contains(log, "audit row not written") ||
			!strings.Contains(log, `\"status\":409`) {
			t.Errorf("the log says %s", log)
		}
	})
}

// Each call of a request fails once, before or after it took effect: answers and records agree, and changes answered
// with success exist.
func TestWhateverTheStoreDoesToARequestItsRowIsThereOnce(t *testing.T) {
	for _, harm := range []table.Harm{table.FailBefore, table.FailAfter, table.Throttle} {
		for call := 1; call <= 3; call++ {
			t.Run(fmt.Sprint("harm ", harm, " to call ", call), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newFailing(t)
					s.f.Inject(table.Injection{Harm: harm, Call: call})
					got := s.put()
					_ = clock.System{}.Sleep(t.Context(), 6*time.Minute)
					if on := s.on(t); on != fmt.Sprint("t1 ", got) {
						t.Errorf("answered with %d, on record: %s", got, on)
					}
				})
			})
		}
	}
}
