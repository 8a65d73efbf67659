package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/simulated"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/testkit/apitest"
)

// plantedSettings are those of the demo's account of planted waste.
func plantedSettings() map[string]string {
	return map[string]string{"facts": "planted", "regions": "eu-west-1"}
}

// plantedWaste lists the planted resources of the fixture's account that a rule finds.
func plantedWaste(t *testing.T) []simulated.Waste {
	t.Helper()
	all := apitest.Value(simulated.PlantedWaste(cloud.Account{
		Provider: simulated.Name, NativeID: "100000000001", Credentials: plantedSettings(),
	}))(t)
	return slices.DeleteFunc(all, func(w simulated.Waste) bool { return len(w.Rules) == 0 })
}

// newPlanted opens the recommendation that waste is planted for. A schedule is attached to what needs one.
func newPlanted(t *testing.T, w simulated.Waste) *remedy {
	t.Helper()
	f := newFixture(t, plantedSettings())
	f.e.p.Workflow = apitest.Idle{}
	m := &remedy{fixture: f, store: remediation.New(f.e.p), recs: recommendation.New(f.e.p)}
	i := slices.IndexFunc(f.resources, func(r inventory.Resource) bool { return r.UID == w.UID })
	if i < 0 {
		t.Fatalf("%s is not discovered", w.UID)
	}
	m.targets = []remediation.Target{m.recommend(w.Rules[0], f.resources[i])}
	if rule.ByID(w.Rules[0]).Verb == rule.VerbSchedule {
		m.targets[0].Parameters = map[string]string{remediation.ScheduleParameter: m.night().ID}
	}
	return m
}

// listed returns the target as a listing of its cloud has it, and the number of its schedules.
func (m *remedy) listed() string {
	m.Helper()
	t := &m.targets[0]
	attached := 0
	if id := t.Parameters[remediation.ScheduleParameter]; id != "" {
		attached = len(apitest.Value(m.e.schedules.ListAttachments(m.ctx, org, id))(m))
	}
	for _, kind := range []string{t.ResourceType, cloud.CollectiveOf(simulated.Name).Type} {
		page, err := m.conn.List(m.ctx, kind, t.Region, "")
		i := slices.IndexFunc(page.Resources, func(r cloud.Resource) bool { return r.UID == t.ResourceUID })
		if err == nil && i >= 0 {
			return fmt.Sprintf("%s, %d schedules", apitest.JSON(page.Resources[i]), attached)
		}
	}
	return "it is gone"
}

// One of each verb: planted waste is approved by a second person, changed, and rolled back. Afterwards a listing shows
// it as before.
func TestRemediate_PlantedWasteIsChangedAndRolledBack(t *testing.T) {
	verbs := map[rule.Verb]bool{}
	for _, w := range plantedWaste(t) {
		verbs[rule.ByID(w.Rules[0]).Verb] = true
		t.Run(w.Rules[0], func(t *testing.T) {
			m := newPlanted(t, w)
			before := m.listed()
			m.approve()
			done := m.run()
			m.Equal("status", fmt.Sprint(done.Status, done.Message), "succeeded")
			m.Equal("recommendation", m.row().Status, recommendation.Applied)
			if after := m.listed(); after == before {
				t.Errorf("it is unchanged: %s", after)
			}
			m.Equal("status", m.rollBack().Status, remediation.RolledBack)
			m.Equal("recommendation", m.row().Status, recommendation.Open)
			m.Clock.Advance(time.Minute) // a service starts again
			m.Equal("listed", m.listed(), before)
		})
	}
	const want = "change-storage delete guard release resize scale schedule set-lifecycle setting stop"
	if all := strings.Trim(fmt.Sprint(slices.Sorted(maps.Keys(verbs))), "[]"); all != want {
		t.Errorf("the verbs are %s; want %s", all, want)
	}
}
