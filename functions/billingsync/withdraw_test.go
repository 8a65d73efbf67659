package billingsync_test

import (
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions/billing"
	domain "lamplighter.dev/shared/domain/billimport"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/testkit/apitest"
)

// uploadLater uploads a file of the vendor a minute later.
func (s *fixture) uploadLater(rows ...string) string {
	s.Helper()
	s.clk.Advance(time.Minute)
	got := s.upload(fields{"vendor": "acme"}, header+strings.Join(rows, ""))
	if got.Status != "succeeded" {
		s.Fatalf("%+v", got)
	}
	return got.JobID
}

// withdraw withdraws an import and waits for its end.
func (s *fixture) withdraw(importID string) {
	s.Helper()
	s.Call(alice, "DELETE /billing/imports/"+importID, nil).Want(202, importID)
	s.idle()
	got := apitest.Data[billing.ImportedFile](s.Call(alice, "GET /billing/imports/"+importID, nil))
	if got.Status != "withdrawn" {
		s.Errorf("%+v", got)
	}
}

// wantMonths compares the costs and the number of line items of October and September.
func (s *fixture) wantMonths(what, total string, lines int64) {
	s.Helper()
	s.Equal(what, s.ask().Total.String(), total)
	sums := apitest.Value(cost.New(s.Platform).Summaries(s.In("org_a"), "org_a", november.Add(-2), november))(s)
	var sum money.Amount
	for i := range sums {
		sum = sum.Add(sums[i].Total.Billed)
	}
	s.Equal(what+", by summaries", sum.String(), total)
	items := apitest.Value(cost.New(s.Platform).LineItems(s.In("org_a"), "org_a", november.Add(-2), november))(s)
	var n int64
	for i := range items {
		n += items[i].Rows
	}
	s.Equal(what+", line items", n, lines)
}

func TestWithdraw_RestoresWhatAnUploadReplaced(t *testing.T) {
	s := newFixture(t)
	first := s.uploadLater(charge("1", "2026-10", "03"), charge("2", "2026-09", "03"))
	second := s.uploadLater(charge("5", "2026-10", "04"), charge("6", "2026-10", "05"))
	s.wantMonths("with both", "13", 3)
	s.Call(bob, "DELETE /billing/imports/"+second, nil).Want(404)
	s.Call(apitest.Caller("org_a", "vic", "viewer"), "DELETE /billing/imports/"+second, nil).Want(403)
	s.withdraw(second)
	s.wantMonths("without the second", "3", 2)
	s.withdraw(second)
	s.wantMonths("withdrawn again", "3", 2)
	s.withdraw(first)
	s.wantMonths("without any", "0", 0)
	if n := len(s.periods()); n != 0 {
		t.Errorf("%d periods are left", n)
	}
	s.uploadLater(charge("9", "2026-10", "03"))
	s.wantMonths("uploaded again", "9", 1)
}

// TestWithdraw_InAnyOrder withdraws three uploads of the same month in every order.
func TestWithdraw_InAnyOrder(t *testing.T) {
	for _, order := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		s := newFixture(t)
		left := map[int]string{}
		for n := range 3 {
			left[n] = s.uploadLater(charge(strconv.Itoa(n+1), "2026-10", "03"))
		}
		for _, n := range order {
			s.withdraw(left[n])
			delete(left, n)
			want := "0"
			for m := range 3 {
				if left[m] != "" {
					want = strconv.Itoa(m + 1)
				}
			}
			s.Equal("the latest of those that are left", s.ask().Total.String(), want)
		}
	}
}

// TestWithdraw_MonthsLater: the replaced period is kept for as long as the upload can be withdrawn.
func TestWithdraw_MonthsLater(t *testing.T) {
	s := newFixture(t)
	s.uploadLater(charge("1", "2026-10", "03"))
	second := s.uploadLater(charge("5", "2026-10", "04"))
	s.clk.Advance(80 * 24 * time.Hour)
	s.upload(fields{"vendor": "other"}, header+charge("7", "2026-09", "03")) // sweeps what is idle
	s.withdraw(second)
	s.wantMonths("80 days later", "8", 2)
	s.clk.Advance(20 * 24 * time.Hour)
	s.Call(alice, "DELETE /billing/imports/"+second, nil).Want(404)
}

func TestWithdraw_OfAFileThatWasNotImported(t *testing.T) {
	s := newFixture(t)
	waiting := apitest.Data[billing.StartedImport](s.Call(alice, "POST /billing/imports",
		fields{"vendor": "acme", "fileName": "x.csv", "bytes": 10}), 202)
	s.Call(alice, "DELETE /billing/imports/"+waiting.JobID, nil).Want(202, `"withdrawn"`)
	w := httptest.NewRecorder()
	s.inbox.ServeHTTP(w, httptest.NewRequestWithContext(s.Context(), "PUT",
		strings.TrimPrefix(waiting.UploadURL, "http://upload.test"), strings.NewReader("0123456789")))
	s.idle()
	s.Call(alice, "GET "+waiting.StatusURL, nil).Want(200, `"withdrawn"`)

	failed := s.upload(fields{"vendor": "acme"}, header)
	s.withdraw(failed.JobID)

	s.Change(domain.UploadKey("org_a", failed.JobID), table.Set("status", "running"))
	s.Call(alice, "DELETE /billing/imports/"+failed.JobID, nil).Want(409, "withdraw it when it has ended")
	s.Call(alice, "DELETE /billing/imports/job_none", nil).Want(404)
}

// TestWithdraw_KilledAnywhereIsCompletedByTheNextTry fails each write to the costs once.
func TestWithdraw_KilledAnywhereIsCompletedByTheNextTry(t *testing.T) {
	s := newFixture(t)
	s.uploadLater(charge("1", "2026-10", "03"), charge("2", "2026-09", "03"))
	for call := 1; call <= 4; call++ {
		for _, harm := range []table.Harm{table.FailBefore, table.FailAfter} {
			next := s.uploadLater(charge("5", "2026-10", "04"), charge("7", "2026-09", "03"))
			s.wantMonths("replaced", "12", 2)
			s.store.Inject(table.Injection{Harm: harm, PK: table.OrgPK("org_a") + "COST", Call: call})
			s.withdraw(next)
			s.store.RemoveFaults()
			s.wantMonths("restored", "3", 2)
		}
	}
}
