package table

import (
	"errors"
	"testing"
)

func TestExplainLost_ExplainsConditionsAlone(t *testing.T) {
	explained, broken := errors.New("the name is taken"), errors.New("the network is down")
	lostName := &ConditionError{Failed: []Failure{{Index: 1}}}
	lostTurn := &ConditionError{Failed: []Failure{{Index: 1}, {Index: 2, Old: Item{Key: Key{SK: turnSK}}}}}
	for _, c := range []struct {
		name string
		err  error
		want error
		says string
	}{
		{"no error", nil, nil, ""},
		{"a condition on the name", lostName, explained, explained.Error()},
		{"a turn that another addition took", lostTurn, lostTurn, lostTurn.Error()},
		{"any other error", broken, broken, "write team_1: the network is down"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ExplainLost(c.err, "write team_1", func(*ConditionError) error { return explained })
			if !errors.Is(got, c.want) || got != nil && got.Error() != c.says {
				t.Errorf("%v; want %v", got, c.says)
			}
		})
	}
}
