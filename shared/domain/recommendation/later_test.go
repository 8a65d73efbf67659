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
	booked.Savings = Savings{
		Form: FormRequests, Strength: BySize, Gross: money.FromInt(40), Net: money.FromInt(30), Given: Medium,
		Claims: []Claim{{ResourceID: "res_01k6v0e4y0c2b7m9q8r5t3w1xz", USD: money.FromInt(30), Cost: money.FromInt(90)}},
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
