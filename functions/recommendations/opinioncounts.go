package recommendations

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/opinion"
)

// OpinionCounts counts opinions by verdict.
type OpinionCounts struct {
	Agree    int             `json:"agree"`
	Differs  int             `json:"differs"`
	OnlyThey int             `json:"onlyThey"`
	OnlyWe   int             `json:"onlyWe"`
	Imports  []OpinionImport `json:"imports" nullable:"false" doc:"By cloud account; empty for a grant on teams or resources"`
}

// OpinionImport is the last import of opinions of a cloud account.
type OpinionImport struct {
	CloudAccountID string               `json:"cloudAccountID"`
	Provider       string               `json:"provider"`
	Source         *cloud.OpinionSource `json:"source" enum:"aws_cost_optimization_hub,azure_advisor,google_recommender,simulated_advisor"`
	State          *cloud.OpinionState  `json:"state" enum:"read,partial,not_enrolled,denied" doc:"null before the first import"`
	Message        *string              `json:"message" doc:"The way out of another state than read"`
	Opinions       int                  `json:"opinions"`
	Cut            bool                 `json:"cut" doc:"There were more than 20,000"`
	At             *time.Time           `json:"at" doc:"Of the opinions that are shown"`
	TriedAt        time.Time            `json:"triedAt"`
	Error          *string              `json:"error" doc:"Of the last try; the opinions of the last import stay"`
}

// counts returns the numbers of positions, and lists the imports for a caller who sees everything.
func (r *opinionReading) counts() OpinionCounts {
	out := OpinionCounts{Imports: []OpinionImport{}}
	for _, p := range r.positions() {
		switch p.verdict {
		case opinion.Agree:
			out.Agree++
		case opinion.Differs:
			out.Differs++
		case opinion.OnlyThey:
			out.OnlyThey++
		case opinion.OnlyWe:
			out.OnlyWe++
		}
	}
	if !r.caller.Scopes(reading).All {
		return out
	}
	for _, a := range r.accounts {
		out.Imports = append(out.Imports, OpinionImport{
			a.AccountID, a.Provider, rest.Optional(a.Source), rest.Optional(a.State), rest.Optional(a.Message), a.Count,
			a.Cut, rest.Optional(a.At), a.TriedAt, rest.Optional(a.Error),
		})
	}
	slices.SortFunc(out.Imports, func(a, b OpinionImport) int {
		return cmp.Or(strings.Compare(a.Provider, b.Provider), strings.Compare(a.CloudAccountID, b.CloudAccountID))
	})
	return out
}
