package fault_test

import (
	"fmt"
	"strings"
	"testing"

	"lamplighter.dev/shared/foundation/fault"
)

func TestInUse_ListsUsesByIDAndName(t *testing.T) {
	many := make([]fault.Use, 12)
	for i := range many {
		many[i] = fault.Use{Kind: "schedule", ID: fmt.Sprintf("sch_%02d", i), Name: fmt.Sprintf("Night %d", i)}
	}
	for _, c := range []struct {
		name string
		uses []fault.Use
		want string
	}{
		{"a record without uses is free", nil, ""},
		{
			"a use without a name is listed by its id",
			[]fault.Use{{Kind: "subscription", ID: "sub_1"}},
			"group grp_1 is in use by subscription sub_1: delete it first",
		},
		{
			"two uses are both listed",
			many[:2],
			"group grp_1 is in use by schedule sch_00 (Night 0), schedule sch_01 (Night 1): delete it first",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := fault.InUse("group grp_1", c.uses, "delete it first")
			if (err == nil) != (c.want == "") || err != nil &&
				(fault.Message(err) != c.want || !fault.Is(err, fault.Conflict)) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
	t.Run("beyond ten uses the rest is counted", func(t *testing.T) {
		got := fault.Message(fault.InUse("group grp_1", many, "delete it first"))
		if !strings.Contains(got, "sch_09 (Night 9), 2 more (12 in all): delete it first") ||
			strings.Contains(got, "sch_10") {
			t.Error(got)
		}
	})
}
