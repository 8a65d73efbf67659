package executor

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"time"

	"lamplighter.dev/functions/executor/remediating"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/remediation"
	"lamplighter.dev/shared/testkit/apitest"
)

// slowChanges is a connection to a cloud whose changes take time: until then, a resource has its values before, and is
// busy. It is one for all calls of a runner.
type slowChanges struct {
	cloud.Conn
	cloud.Changer
	now   func() time.Time
	takes *[]time.Duration // the calls, in their order
	at    *time.Time       // the end of the last change
	was   *cloud.Values
}

func (s slowChanges) ApplyChange(ctx context.Context, c cloud.ChangeCall) error {
	d, err := s.Changer.DescribeForChange(ctx, c.Change)
	if err != nil {
		return err
	}
	*s.at, *s.was = s.now().Add((*s.takes)[0]), maps.Clone(d.Values)
	*s.takes = (*s.takes)[1:]
	return s.Changer.ApplyChange(ctx, c)
}

func (s slowChanges) DescribeForChange(ctx context.Context, c cloud.Change) (cloud.Description, error) {
	d, err := s.Changer.DescribeForChange(ctx, c)
	if s.now().Before(*s.at) {
		d.Values, d.Busy = maps.Clone(*s.was), "a change is under way"
	}
	return d, err
}

func (s slowChanges) CheckChange(ctx context.Context, c cloud.ChangeCall) (bool, cloud.Values, error) {
	if s.now().Before(*s.at) {
		return false, maps.Clone(*s.was), nil
	}
	return s.Changer.CheckChange(ctx, c)
}

// slow returns a runner whose changes take time.
func (m *remedy) slow(takes ...time.Duration) *remediating.Runner {
	r, at, was := m.e.remediator(), new(time.Time), new(cloud.Values)
	connect := r.Connect
	r.Connect = func(ctx context.Context, org string, a inventory.Account, t *remediation.Target) (cloud.Conn, error) {
		conn, err := connect(ctx, org, a, t)
		if err != nil {
			return nil, err
		}
		return slowChanges{conn, conn.(cloud.Changer), m.Clock.Now, &takes, at, was}, nil
	}
	return r
}

// A change that the provider is still making after ten minutes is waited for, and so is its undo.
func TestRemediate_AChangeThatTakesHoursIsWaitedFor(t *testing.T) {
	c := changeCases["change-storage"]
	m := newChange(t, c, 1)
	before := m.values(0, c.verb)
	m.approve()
	r := m.slow(3*time.Hour, 3*time.Hour)
	w := m.runWith(r)
	m.Equal("status", fmt.Sprint(w.Status, w.Message), "succeeded")
	m.w = apitest.Value(m.store.RequestRollback(m.ctx, w, m.person("bob")))(m)
	w = m.runWith(r)
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
}

// A change that takes more than a day has failed: it is given back when the resource is free.
func TestRemediate_AChangeThatTakesMoreThanADayIsGivenBack(t *testing.T) {
	c := changeCases["change-storage"]
	m := newChange(t, c, 1)
	before := m.values(0, c.verb)
	m.approve()
	r := m.slow(30*time.Hour, time.Hour)
	w := m.runWith(r)
	for range 10 { // each takes 500 looks
		if w.Status == remediation.Running {
			w = m.runWith(r)
		}
	}
	m.Equal("status", w.Status, remediation.RolledBack)
	m.Equal("values", apitest.JSON(m.values(0, c.verb)), apitest.JSON(before))
}
