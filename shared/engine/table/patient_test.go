package table_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestPatientStore_TriesForAsLongAsThereIsTime(t *testing.T) {
	for name, c := range map[string]struct {
		refusals int // 0 means always
		limit    time.Duration
		least    time.Duration
		most     time.Duration
		done     bool
	}{
		"a minute of refusals":         {30, 0, 30 * time.Second, 2 * time.Minute, true},
		"refusals for ever":            {0, 0, 2 * time.Minute, 125 * time.Second, false},
		"until shortly before the end": {0, time.Minute, 40 * time.Second, 50 * time.Second, false},
		"with hardly any time":         {0, 10 * time.Second, 0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := table.NewFaultyStore(tabletest.New(t), clock.System{})
				if c.refusals == 0 {
					f.Inject(table.Injection{Harm: table.Throttle})
				}
				for i := range c.refusals {
					f.Inject(table.Injection{Harm: table.Throttle, Call: i + 1})
				}
				ctx := t.Context()
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				began := time.Now()
				err := table.NewPatientStore(f).Transact(ctx, table.Put(smallItem("p", "1")),
					table.Put(smallItem("p", "2")))
				if took := time.Since(began); took < c.least || took > c.most {
					t.Errorf("tried for %s, want %s to %s", took, c.least, c.most)
				}
				if (err == nil) != c.done || err != nil && !errors.Is(err, table.ErrThrottled) {
					t.Errorf("%v", err)
				}
			})
		})
	}
}

func TestPatientStore_TakesARefusalForAnAnswer(t *testing.T) {
	p := table.NewPatientStore(tabletest.New(t))
	mustWrite(t, p, smallItem("p", "1"))
	err := p.Transact(t.Context(), table.Put(smallItem("p", "1"), table.Absent()))
	if _, refused := errors.AsType[*table.ConditionError](err); !refused {
		t.Errorf("%v", err)
	}
	ctx, meter := table.WithMeter(t.Context())
	if err = p.Transact(ctx, table.Put(smallItem("p", "2"))); err != nil || meter.Usage().WriteUnits != 1 {
		t.Errorf("one write: %+v, %v", meter.Usage(), err)
	}
}
