package recommender

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/domain/rule/condition"
	"lamplighter.dev/shared/foundation/fault"
)

// bookRequests computes what the open recommendations about requests of workloads save together, and stores at each
// its share. It runs when a whole pass has evaluated everything, because nodes are removed by all of them together. To
// repeat it changes nothing.
func (r *runner) bookRequests(ctx context.Context) error {
	var rows []recommendation.Row
	err := r.rows.OpenRows(ctx, r.org, func(some []recommendation.Row) error {
		for i := range some {
			some[i].History = nil
		}
		rows = append(rows, some...)
		return nil
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	pools, err := r.readPools(ctx)
	if err != nil {
		return err
	}
	settling, err := r.rows.Begin(ctx, r.org, recommendation.Pass{ID: r.state.ID + "-requests", At: r.state.At})
	if err != nil {
		return err
	}
	_, err = settling.Settle(ctx, pools.book(rows))
	return fault.Wrap(fmt.Sprintf("book the savings of %d recommendations about requests of %s", len(rows), r.org), err)
}

// book returns the findings that give each row its saving.
func (p *nodePools) book(rows []recommendation.Row) []recommendation.Finding {
	cuts, why := cutsOf(rows)
	by := map[string]map[string]poolSaving{}
	for name, pool := range p.pools {
		if p.why[name] == "" {
			by[name] = pool.savings(cuts)
		}
	}
	out := make([]recommendation.Finding, 0, len(rows))
	for i := range rows {
		out = append(out, bookedFinding(&rows[i], p.savingsOf(&rows[i], by, why[rows[i].ID])))
	}
	return out
}

// savingsOf returns the saving of a row: the sum over the pools on which its workload has pods.
func (p *nodePools) savingsOf(
	row *recommendation.Row, by map[string]map[string]poolSaving, why condition.Reason,
) recommendation.Savings {
	out := recommendation.Savings{Form: recommendation.FormRequests, Strength: recommendation.BySize}
	names := p.placed[row.ResourceUID]
	if out.Unknown = string(why); why != "" {
		return out
	}
	if len(names) == 0 {
		out.Unknown = string(unplaced)
		if of := p.unknown[clusterOfUID(row.ResourceUID)]; of != "" {
			out.Unknown = string(of)
		}
		return out
	}
	for _, name := range names {
		if of := p.why[name]; of != "" {
			return recommendation.Savings{Form: out.Form, Strength: out.Strength, Unknown: string(of)}
		}
		addPoolSaving(&out, by[name][row.ID])
	}
	return out
}

func addPoolSaving(to *recommendation.Savings, s poolSaving) {
	to.Gross = to.Gross.Add(s.gross)
	if to.Basis != recommendation.Estimated && s.basis != "" {
		to.Basis = s.basis
	}
	for _, c := range s.claims {
		if len(to.Claims) == recommendation.MaxClaims {
			return
		}
		to.Claims, to.Net = append(to.Claims, c), to.Net.Add(c.USD)
	}
}

func bookedFinding(row *recommendation.Row, s recommendation.Savings) recommendation.Finding {
	if s.Given = row.Savings.Given; s.Given == "" {
		s.Given = row.Severity
	}
	return recommendation.Finding{
		RuleID: row.RuleID, RuleVersion: row.RuleVersion, Resource: row.Resource, Outcome: recommendation.Booked,
		Severity: recommendation.Lowered(s.Given, s.Net), Savings: s,
	}
}

// cutsOf returns what the rows lower, by workload, and why it is unknown of some rows, by their ids. A row whose
// condition is no longer true lowers nothing.
func cutsOf(rows []recommendation.Row) (map[string][]requestCut, map[string]condition.Reason) {
	out, why := map[string][]requestCut{}, map[string]condition.Reason{}
	for i := range rows {
		row := &rows[i]
		if row.Falses > 0 {
			continue
		}
		most, known := loweredTo(row)
		if !known {
			why[row.ID] = unknownValue
			continue
		}
		out[row.ResourceUID] = append(out[row.ResourceUID], requestCut{row.ID, row.ResourceUID, most})
	}
	for uid := range out {
		slices.SortFunc(out[uid], func(a, b requestCut) int { return strings.Compare(a.recID, b.recID) })
	}
	return out, why
}

// loweredTo returns the most that a pod requests after a recommendation: what the change sets. It returns false if the
// evidence does not say it.
func loweredTo(row *recommendation.Row) (room, bool) {
	most := room{math.MaxInt64, math.MaxInt64, 0}
	r := rule.ByID(row.RuleID)
	if r == nil {
		return most, false
	}
	set, is := r.LoweredRequest()
	use, known := row.Evidence.Values[set.Value.Text].(float64)
	if !is || !known {
		return most, false
	}
	target, err := strconv.ParseFloat(rule.SettingText(set.Name, use*set.Value.Factor), 64)
	if err != nil {
		return most, false
	}
	if set.Name == rule.CPURequest {
		most.milli = int64(math.Ceil(target*1000 - 1e-6))
	} else {
		most.mib = int64(math.Ceil(target*1024 - 1e-6))
	}
	return most, true
}
