package discovery

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
)

// unpriced is a cloud without prices: no discovery has any fetched, which is the work of another machine.
type unpriced struct{ cloud.Provider }

// newService is the machine of discoveries, on a cloud that is the same in each process.
func (s *fixture) newService() killpoint.Service {
	return killpoint.Service{
		Machines: apitest.Machines(s, "discovery"), Functions: map[string]string{"DiscoveryFunctionArn": "discovery"},
		Clock: s.leaping,
		Handlers: func(p *platform.Platform) map[string]workflow.Handler {
			return map[string]workflow.Handler{"discovery": Handler(p,
				cloud.Providers{simulated.Name: unpriced{simulated.New(p.Table, p.Clock)}})}
		},
	}
}

// inventoryState returns the inventory's resources and the state of the account.
func (s *fixture) inventoryState() string {
	s.Helper()
	var lines []string
	for _, r := range apitest.Rows[inventory.Resource](s.Fixture, inventory.ResourcePKs(org)...) {
		lines = append(lines,
			fmt.Sprintf("%s %s %s in %s, claimed by %q", r.Type, r.UID, r.Status, r.Region, r.ActionID))
	}
	slices.Sort(lines)
	a := s.storedAccount()
	return fmt.Sprintf("%s\n%s with %d resources, %d live, job %q", strings.Join(lines, "\n"), a.Status,
		a.ResourceCount, s.countLive(), a.JobID)
}

// An account is discovered, changes, and is discovered again.
func TestKilledAtAnyStep_DiscoveriesLoseNothing(t *testing.T) {
	killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
		t.Helper()
		s := newFixture(t, map[string]string{"size": "30", "regions": "2"})
		s.Workflow = apitest.Idle{}
		passes, changed := 0, false
		lives.Run(s.ctx, t, func(ctx context.Context, p *killpoint.Process) error {
			for ; passes < 2; passes++ {
				mine := p.Platform(s.Platform)
				if passes == 1 && !changed {
					s.clk.Advance(time.Hour)
					s.account, changed = s.storedAccount(), true
					s.setSettings(map[string]string{"size": "30", "regions": "2", "vanish": "0.25"})
				}
				if _, err := discovery.StartDiscovery(ctx, mine, org, s.account.ID); err != nil {
					return err
				}
				if err := s.newService().Run(ctx, mine); err != nil {
					return err
				}
			}
			return nil
		})
		return s.inventoryState()
	})
}
