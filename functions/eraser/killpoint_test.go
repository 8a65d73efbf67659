package eraser

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/people/erasure"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// An organization is erased; another one stays as it is, and the installation has one record of the end.
func TestKilledAtAnyStep_ErasuresLeaveNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t)
		s.fillOrg("org_a", 2)
		s.fillOrg("org_b", 1)
		in := s.endOrg()
		s.Clock.Advance(erasure.Settling + time.Second)
		lives.Run(s.Context(), t, func(ctx context.Context, p *killpoint.Process) error {
			return carryOut(ctx, s, p, in)
		})
		return s.remains()
	})
}

// carryOut runs the task of the machine until it is done.
func carryOut(ctx context.Context, s *fixture, p *killpoint.Process, in erasure.Input) error {
	input, err := json.Marshal(map[string]any{"task": "erase", "input": in})
	if err != nil {
		return err
	}
	for range 10 {
		out, err := Handler(p.Platform(s.Platform), testWalk(s))(ctx, input)
		if r, _ := out.(Result); err != nil || r.Done {
			return err
		}
	}
	return fmt.Errorf("%s is not erased after ten runs", in.Org)
}

// remains returns the remaining data of both organizations, and the number of recorded erasures.
func (s *fixture) remains() string {
	s.Helper()
	keys := func(org string) string {
		var out []string
		for k := range s.itemsOf(org) {
			out = append(out, k.PK)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	recorded := 0
	apitest.LinkAudit(s, s.Platform, audit.SystemPlaces()...)
	for _, at := range audit.SystemPlaces() {
		page := apitest.Value(s.Table.Query(s.Anywhere(), table.Query{PK: at.PK, Limit: 100}))(s)
		for _, it := range page.Items {
			if r, err := table.Decode[audit.Row](it); err == nil && r.Action == "eraseOrganisation" {
				recorded++
			}
		}
	}
	return fmt.Sprintf("of org_a: %s\nof org_b: %s\narchives of %v, %d on record", keys("org_a"), keys("org_b"),
		slices.Compact(s.archives), recorded)
}
