package readiness_test

import (
	"testing"
	"time"

	"lamplighter.dev/shared/domain/readiness"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/testkit/apitest"
)

const org = apitest.Org

// fixture is a store of plans.
type fixture struct {
	*apitest.Fixture
	plans *readiness.Store
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := apitest.New(t)
	return &fixture{f, readiness.New(f.Table, f.Clock)}
}

// plan returns a plan on existing policies that begins in a day.
func (f *fixture) plan(policies ...string) readiness.Plan {
	start := f.Clock.Now().Add(24 * time.Hour)
	p := readiness.Plan{
		ID: id.New("evt", f.Clock.Now()), Org: org, Name: "Black Friday", EventStart: start,
		EventEnd:        start.Add(4 * time.Hour),
		PreScaleMinutes: 30, PostEventMinutes: 30, ExpectedMultiplier: 3_000_000, Timezone: "Europe/Berlin",
		CreatedBy: "ada@example.com",
	}
	for _, policyID := range policies {
		f.Put(readiness.PolicyKey(org, policyID), readiness.Policy{ID: policyID, Name: policyID})
		p.Targets = append(p.Targets,
			readiness.Target{PolicyID: policyID, OriginalMin: 2, OriginalMax: 10, OriginalDesired: 4})
	}
	return p
}

// in stores a plan with a status, without the transitions to it.
func (f *fixture) in(s readiness.Status, policies ...string) readiness.Plan {
	f.Helper()
	p := apitest.Value(f.plans.Create(f.In(org), f.plan(policies...)))(f)
	p.Status = s
	f.Put(readiness.Key(org, p.ID), p)
	return p
}

func (f *fixture) log(planID string) []readiness.Line {
	f.Helper()
	q := readiness.Logs(org, planID)
	q.Reverse, q.Limit = false, 10_000
	lines, _, err := table.ReadPage[readiness.Line](f.In(org), f.Table, q)
	f.Must(err)
	return lines
}
