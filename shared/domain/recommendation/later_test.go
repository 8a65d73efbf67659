package recommendation

import (
	"fmt"
	"testing"

	"lamplighter.dev/shared/foundation/money"
)

// laterFinding returns a true finding whose saving is computed when all resources are evaluated.
func laterFinding(severity Severity) *Finding {
	f := idle()
	f.Severity = severity
	f.Savings = Savings{Form: FormRequests, Strength: BySize, Later: true}
	return &f
}

// dayPass returns the pass of a day.
func dayPass(n int) Pass { return Pass{ID: fmt.Sprint("pass ", n), At: start.AddDate(0, 0, n)} }

func TestAdvance_ASavingThatIsComputedLaterIsUnknownUntilThen(t *testing.T) {
	row, _ := Advance(Row{}, laterFinding(Medium), dayPass(0))
	if row.Savings.Unknown != Unbooked || row.Severity != Info || row.Savings.Given != Medium || row.Savings.Later {
		t.Errorf("%+v of severity %s", row.Savings, row.Severity)
	}
}

func TestAdvance_KeepsTheSavingThatIsComputedLater(t *testing.T) {
	row, _ := Advance(Row{}, laterFinding(Medium), dayPass(0))
	booked := laterFinding(Low)
	booked.Outcome = Booked
	booked.Savings = Savings{
		Form: FormRequests, Strength: BySize, Gross: money.FromInt(40), Net: money.FromInt(30), Given: Medium,
		Claims: []Claim{{
			ResourceID: "res_01k6v0e4y0c2b7m9q8r5t3w1xz", USD: money.FromInt(30), Cost: money.FromInt(90),
		}},
	}
	booked.Severity = Lowered(Medium, money.FromInt(30))
	row, changed := Advance(row, booked, dayPass(1))
	if !changed || row.Savings.Unknown != "" || row.Severity != Medium || len(row.Savings.Claims) != 1 {
		t.Fatalf("booked: %v, %+v of severity %s", changed, row.Savings, row.Severity)
	}
	again, changed := Advance(row, laterFinding(Medium), dayPass(2))
	if changed {
		t.Errorf("the next evaluation changes the row: %+v", again.Savings)
	}
	again, changed = Advance(row, laterFinding(Low), dayPass(3))
	if !changed || again.Severity != Low || again.Savings.Net != money.FromInt(30) || again.Savings.Given != Low {
		t.Errorf("with another severity of the rule: %v, %+v of severity %s", changed, again.Savings, again.Severity)
	}
}

// A booking is no evaluation: it neither opens nor ends a row, and keeps the count of false evaluations.
func TestAdvance_ABookingChangesOpenRowsOnly(t *testing.T) {
	for _, status := range []Status{Candidate, Dismissed, Applied, Optimised} {
		h := reach(t, status)
		f := change(idle(), outcome(Booked), saving(70))
		if next, changed := Advance(h.row, f, dayPass(99)); changed {
			t.Errorf("%s becomes %s with %s", status, next.Status, next.Savings.Net)
		}
	}
	row, _ := Advance(Row{}, laterFinding(Medium), dayPass(0))
	row, _ = Advance(row, change(idle(), outcome(False)), dayPass(1))
	f := laterFinding(Info)
	f.Outcome, f.Savings.Later, f.Savings.Gross = Booked, false, money.FromInt(5)
	next, changed := Advance(row, f, dayPass(2))
	if !changed || next.Falses != 1 || next.Status != Open || next.Savings.Gross != money.FromInt(5) {
		t.Errorf("%v: %d false evaluations, %s, %+v", changed, next.Falses, next.Status, next.Savings)
	}
	if again, changed := Advance(next, change(idle(), outcome(False)), dayPass(1)); changed {
		t.Errorf("an evaluation that is repeated counts again: %d", again.Falses)
	}
}
