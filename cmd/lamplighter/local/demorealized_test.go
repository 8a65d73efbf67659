package local

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// realizedRule is the rule of the change of the demo's past.
const realizedRule = "aws-rds-multi-az-nonprod"

// checkRealized follows the change of the demo's past from its recommendation over the report of savings to its rule.
func (d *evaluatedDemo) checkRealized() {
	one := d.changedInThePast()
	d.checkSavingLine(one)
	var rules struct {
		Items []struct {
			ID                    string
			RealizedOverPredicted *float64
		}
	}
	d.get("/recommendations/rules?search="+realizedRule, &rules)
	for _, r := range rules.Items {
		if r.ID != realizedRule {
			continue
		}
		if ratio := r.RealizedOverPredicted; ratio == nil || *ratio < 0.8 || *ratio > 1.2 {
			d.Errorf("realized over predicted is %v; want about 1", ratio)
		}
	}
}

// changedInThePast returns the one recommendation that is done. It was applied before this demo began.
func (d *evaluatedDemo) changedInThePast() shownWaste {
	d.Helper()
	var found struct{ Items []shownWaste }
	d.get("/recommendations/resources?status=applied,optimised&search="+realizedRule, &found)
	if len(found.Items) != 1 {
		d.Fatalf("%d recommendations of %s are done: %+v; want 1", len(found.Items), realizedRule, found.Items)
	}
	one := found.Items[0]
	var row struct {
		Savings struct {
			Net         string
			RealizedUSD *string
		}
		History []struct{ To, By string }
	}
	d.get("/recommendations/"+one.ID, &row)
	if row.Savings.RealizedUSD == nil {
		d.Fatalf("%s: no saving is measured: %+v", one.ID, row)
	}
	usd, err := strconv.ParseFloat(*row.Savings.RealizedUSD, 64)
	if err != nil || usd < 1 || len(row.History) != 3 || row.History[1].By != DemoEmail {
		d.Errorf("%s: %+v saves %v, %v", one.ID, row, usd, err)
	}
	return one
}

// savingLine is the part of a line of the report of savings that the test reads.
type savingLine struct {
	Source         string
	SavingsUSD     string
	Recommendation *struct{ ID, BeforeUSD, AfterUSD string }
}

// checkSavingLine checks that the report of savings has one line of a recommendation, with its proof.
func (d *evaluatedDemo) checkSavingLine(one shownWaste) {
	d.Helper()
	lines := 0
	for _, l := range d.savingLines() {
		if l.Recommendation == nil {
			continue
		}
		lines++
		if l.Recommendation.ID != one.ID || !strings.HasPrefix(l.Source, "bill of ") || l.SavingsUSD == "0.00" {
			d.Errorf("%+v is not the saving of %s", l, one.ID)
		}
	}
	if lines != 1 {
		d.Errorf("%d lines are of recommendations; want 1", lines)
	}
}

// savingLines reads the report of savings of the last 30 days, which also has the past stops.
func (d *evaluatedDemo) savingLines() (out []savingLine) {
	d.Helper()
	now := d.Platform.Clock.Now().UTC()
	from, to := now.AddDate(0, 0, -30).Format(time.DateOnly), now.AddDate(0, 0, 1).Format(time.DateOnly)
	for page := 1; ; page++ {
		var report struct{ Items []savingLine }
		d.get(fmt.Sprintf("/reports/savings?from=%s&to=%s&limit=100&page=%d", from, to, page), &report)
		if len(report.Items) == 0 {
			return out
		}
		out = append(out, report.Items...)
	}
}
