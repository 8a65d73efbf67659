package rest_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
)

// The cost of an organization is the sum of the lines of its requests (docs/operations/organisation-cost.md): the units
// that the store counted for a request must be in the lines of its organization only.
func TestRequests_AddUpWhatEachOrganizationUses(t *testing.T) {
	s := openReply(t)
	other := anna
	other.Org, other.User = "org_other", "usr_other"
	want := map[string]table.Usage{}
	for i, caller := range []struct {
		org, key string
	}{{anna.Org, "k1"}, {other.Org, "k2"}, {anna.Org, "k3"}, {anna.Org, ""}} {
		who := anna
		if caller.org == other.Org {
			who = other
		}
		r := withCaller(httptest.NewRequest(http.MethodPost, "/things", strings.NewReader(`{"name":"lamp"}`)), who)
		r.Header.Set("Content-Type", "application/json")
		if caller.key != "" {
			r.Header.Set("Idempotency-Key", caller.key)
		}
		ctx, meter := table.WithMeter(r.Context())
		w := httptest.NewRecorder()
		if s.h.ServeHTTP(w, r.WithContext(ctx)); w.Code != 200 {
			t.Fatalf("request %d: %d %s", i, w.Code, w.Body)
		}
		want[caller.org] = added(want[caller.org], meter.Usage())
	}
	got := map[string]table.Usage{}
	for text := range strings.SplitSeq(strings.TrimSpace(s.log.String()), "\n") {
		var l struct {
			Msg, Org              string
			RoundTrips            int
			ReadUnits, WriteUnits float64
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Msg != "request" {
			t.Fatalf("%s: %v", text, err)
		}
		got[l.Org] = added(got[l.Org],
			table.Usage{RoundTrips: l.RoundTrips, ReadUnits: l.ReadUnits, WriteUnits: l.WriteUnits})
	}
	if len(got) != 2 || got[anna.Org] != want[anna.Org] || got[other.Org] != want[other.Org] {
		t.Errorf("the lines add up to %+v, used were %+v", got, want)
	}
	if want[anna.Org].WriteUnits <= want[other.Org].WriteUnits || want[other.Org].WriteUnits == 0 {
		t.Errorf("used were %+v: nothing to tell apart", want)
	}
}

func added(a, b table.Usage) table.Usage {
	return table.Usage{
		RoundTrips: a.RoundTrips + b.RoundTrips, ReadUnits: a.ReadUnits + b.ReadUnits,
		WriteUnits: a.WriteUnits + b.WriteUnits,
	}
}
