package teams

import (
	"testing"

	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/foundation/money"
)

func TestDeleting_ATeamThatShowbackRulesNameIsRefusedAndNamesThem(t *testing.T) {
	s := newFixture(t)
	made := s.newTeam("Web", "")
	rules := report.NewShowbackStore(s.Table)
	rule := report.SavedShowbackRule{
		ID: "rule_1", Name: "Support", Method: report.Fixed,
		Shares: []report.ShowbackShare{{TeamID: made.ID, Percent: money.FromInt(40)}},
	}
	s.Must(rules.Change(s.In(ours), ours, func([]report.SavedShowbackRule) ([]report.SavedShowbackRule, error) {
		return []report.SavedShowbackRule{rule}, nil
	}))
	s.Call(ada, "DELETE /teams/"+made.ID).Want(409, "Support", "rule_1", "delete them first")
	s.Call(ada, "GET /teams/"+made.ID).Want(200)
	s.Must(rules.Change(s.In(ours), ours,
		func([]report.SavedShowbackRule) ([]report.SavedShowbackRule, error) { return nil, nil }))
	s.Call(ada, "DELETE /teams/"+made.ID).Want(200)
}
