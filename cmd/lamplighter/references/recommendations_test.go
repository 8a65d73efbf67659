package references

import (
	"slices"
	"time"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// severities are those of recommendations, least first.
var severities = []recommendation.Severity{
	recommendation.Info, recommendation.Low, recommendation.Medium, recommendation.High,
}

// severityRank returns the place of a recommendation's severity.
func severityRank(item map[string]any) any {
	s, _ := item["severity"].(string)
	return slices.Index(severities, recommendation.Severity(s))
}

// recommend makes a recommendation for each resource, with another severity, saving and time, whatever the rules say.
func (w *references) recommend(resources []testenv.Resource) {
	w.t.Helper()
	for i, r := range resources {
		saves := money.FromInt([]int64{100, 9, 25}[i])
		f := recommendation.Finding{
			RuleID: "custom-rule", RuleVersion: 1, Outcome: recommendation.True, Category: "idle",
			Severity: severities[(i+2)%len(severities)], Effort: "low", Risk: "low", Title: "Idle",
			Reason: "It is idle",
			Resource: recommendation.Resource{
				ResourceID: r.ID, ResourceUID: r.UID, ResourceName: r.UID, ResourceType: r.Type, Provider: r.Provider,
				CloudAccountID: r.CloudAccountID, Region: r.Region,
			},
			Savings: recommendation.Savings{
				Gross: saves, Net: saves, Basis: recommendation.Estimated, Strength: recommendation.ByStop,
			},
		}
		at := w.Service.Clock.Now().Add(-time.Duration(i) * time.Hour)
		pass := recommendation.Pass{ID: id.New("job", at), At: at}
		_, err := recommendation.New(w.Service.Platform).Settle(table.WithOrg(w.t.Context(), w.Org), w.Org,
			recommendation.ShardOf(r.UID), pass, []recommendation.Finding{f})
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

// propose makes a remediation workflow of each resource, one after the other.
func (w *references) propose(resources []testenv.Resource) {
	w.t.Helper()
	store := remediation.New(w.Service.Platform)
	for _, r := range resources {
		_, err := store.Create(table.WithOrg(w.t.Context(), w.Org), remediation.Workflow{
			Org:       w.Org,
			Targets:   []remediation.Target{{RecID: "rec_" + r.ID, ResourceID: r.ID, State: remediation.Waiting}},
			Requester: remediation.Person{User: "usr_ada", Email: "ada@example.com", At: w.Service.Clock.Now()},
		})
		if err != nil {
			w.t.Fatal(err)
		}
		w.Service.Clock.Advance(time.Second)
	}
}
