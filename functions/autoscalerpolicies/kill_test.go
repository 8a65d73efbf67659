package autoscalerpolicies

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/killpoint"
	"lamplighter.dev/shared/testkit/race"
)

// client creates a policy, applies it, and deletes it. If a process of the API dies during a request, the client
// reads the result, waits until no process can still be working on it, and asks again.
type client struct {
	*fixture
	policy  AutoscalerPolicy
	applies bool   // it asks for an apply beside that of the creation
	done    string // how far it is
	found   cloud.Autoscaling
}

// process has the requests of the client answered by a process.
func (c *client) process(p *killpoint.Process) *fixture {
	f := *c.fixture
	f.Fixture = apitest.On(c.TB, p.Platform(c.Platform)).Mount(Operations)
	f.Clock = c.Clock
	return &f
}

// run makes the requests that are left.
func (c *client) run(f *fixture) error {
	for c.done != "deleted" {
		if err := c.next(f); err != nil {
			c.Clock.Advance(2 * time.Minute) // a claim of a dead process has passed
			return err
		}
	}
	return nil
}

func (c *client) next(f *fixture) error {
	switch {
	case c.done == "":
		return c.create(f)
	case c.done == "created" && c.applies:
		return c.answer(f.Call(ada, "POST /autoscaler-policies/"+c.policy.ID+"/apply", "{}"), "applied")
	}
	got := f.Call(ada, "DELETE /autoscaler-policies/"+c.policy.ID)
	if got.Status == http.StatusNotFound {
		c.done = "deleted"
		return nil
	}
	return c.answer(got, "deleted")
}

// create asks for the policy, and looks for one that an earlier request has made.
func (c *client) create(f *fixture) error {
	got := f.Call(ada, "POST /autoscaler-policies",
		c.policyBody(cloud.AWSASG, 0, larger, map[string]any{"mode": "autopilot"}))
	if got.Status != http.StatusConflict {
		err := c.answer(got, "created")
		if err == nil {
			c.policy = apitest.Data[AutoscalerPolicy](got)
		}
		return err
	}
	all := f.Call(ada, "GET /autoscaler-policies")
	if err := c.answer(all, "created"); err != nil {
		return err
	}
	c.policy = apitest.Data[rest.List[AutoscalerPolicy]](all).Items[0]
	return nil
}

// answer takes an answer; it fails when there was none.
func (c *client) answer(got apitest.Answer, done string) error {
	if got.Status != http.StatusOK {
		return fault.New(fault.Unavailable, "%s", got)
	}
	c.done = done
	return nil
}

// state says how all is in the end.
func (c *client) state() string {
	c.Helper()
	live := c.liveScaling(AutoscalerPolicy{Target: AutoscalerTarget{
		Type:   cloud.AWSASG,
		UID:    c.byType[cloud.AWSASG][0].UID,
		Region: region,
	}})
	left := apitest.Rows[readiness.Policy](c.Fixture, readiness.PolicyKey(apitest.Org, "").PK)
	left = slices.DeleteFunc(left, func(p readiness.Policy) bool { return !strings.HasPrefix(p.ID, "asp_") })
	return fmt.Sprintf("%s; %d policies; target as it was found: %v (%s)", c.done, len(left),
		readiness.IsUntouched(live, c.found), apitest.JSON(live))
}

// A process of the API is killed at fifty random steps of a policy's creation, apply and deletion. The target gets
// its original scaling back.
func TestPolicy_KilledAtFiftyStepsIsGivenBackAsItWasFound(t *testing.T) {
	race.SkipRepetition(t)
	for name, applies := range map[string]bool{"applied once more": true, "deleted after its creation": false} {
		t.Run(name, func(t *testing.T) {
			killpoint.LosesNothing(t, 50, func(t *testing.T, lives *killpoint.Lives) string {
				t.Helper()
				c := &client{fixture: newFixture(t), applies: applies}
				c.found = c.liveScaling(AutoscalerPolicy{Target: AutoscalerTarget{
					Type: cloud.AWSASG,
					UID:  c.byType[cloud.AWSASG][0].UID, Region: region,
				}})
				lives.Run(t.Context(), t, func(_ context.Context, p *killpoint.Process) error {
					return c.run(c.process(p))
				})
				return c.state()
			})
		})
	}
}

// An apply whose result is unknown, because its process died or the cloud was slow, is undone only if it has taken
// effect.
func TestRemove_GivesBackWhatAnApplyOfUnknownEndHasSet(t *testing.T) {
	asked := cloud.Autoscaling{Min: 20, Max: 40, Desired: 30}
	for name, c := range map[string]struct {
		live  *cloud.Autoscaling // nil: as it was found
		given bool
	}{
		"it has taken effect":                    {&asked, true},
		"it has not":                             {nil, false},
		"somebody else has set other sizes":      {&cloud.Autoscaling{Min: 5, Max: 9, Desired: 6}, false},
		"a rule has moved the size since it did": {&cloud.Autoscaling{Min: 20, Max: 40, Desired: 37}, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			p := f.createPolicy()
			found := f.liveScaling(p)
			f.Change(readiness.PolicyKey(apitest.Org, p.ID), table.Set("asked", asked))
			if c.live != nil {
				f.changeScaling(p, *c.live)
			}
			before := f.liveScaling(p)
			got := apitest.Data[DeletedAutoscalerPolicy](f.Call(ada, "DELETE /autoscaler-policies/"+p.ID))
			want := before
			if c.given {
				want = found
			}
			if got.Restored != c.given || !readiness.IsUntouched(f.liveScaling(p), want) {
				t.Errorf("given back %v; it has %s, want %s", got.Restored, apitest.JSON(f.liveScaling(p)),
					apitest.JSON(want))
			}
		})
	}
}
