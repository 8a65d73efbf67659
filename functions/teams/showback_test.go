package teams

import (
	"testing"

	"lamplighter.dev/shared/domain/showback"
	"lamplighter.dev/shared/foundation/money"
)

func TestDeleting_ATeamThatShowbackRulesNameIsRefusedAndNamesThem(t *testing.T) {
	s := newFixture(t)
	made := s.newTeam("Web", "")
	rules := showback.NewStore(s.Table)
	rule := showback.Saved{ID: "rule_1", Name: "Support", Method: showback.Fixed,
		Shares: []showback.Share{{TeamID: made.ID, Percent: money.FromInt(40)}}}
	s.Must(rules.Change(s.In(ours), ours, func([]showback.Saved) ([]showback.Saved, error) {
		return []showback.Saved{rule}, nil
	}))
	s.Call(ada, "DELETE /teams/"+made.ID).Want(409, "Support", "rule_1", "delete them first")
	s.Call(ada, "GET /teams/"+made.ID).Want(200)
	s.Must(rules.Change(s.In(ours), ours, func([]showback.Saved) ([]showback.Saved, error) { return nil, nil }))
	s.Call(ada, "DELETE /teams/"+made.ID).Want(200)
}
