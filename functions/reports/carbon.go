package reports

import (
	"context"
	"slices"
	"time"

	"lamplighter.dev/functions/reports/carbon"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/execution"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
	"lamplighter.dev/shared/foundation/money"
)

// carbonNote describes the column of carbon in the interface description.
const carbonNote = " carbonKgCO2e is the estimated emission of a machine in its running hours of these days, by " +
	"the published coefficients of carbonSource at 50 % use of its vCPUs. It is null if the machine's family, size " +
	"or region has no coefficient, or if its running hours are not known. Hours before the machine was discovered, " +
	"or first started or stopped here, are not counted."

// CarbonSource names the source of the carbon coefficients and the utilization that the estimates assume.
type CarbonSource struct {
	Name               string `json:"name" example:"Cloud Carbon Footprint"`
	Version            string `json:"version"`
	Licence            string `json:"licence"`
	Date               string `json:"date" doc:"Of the version" example:"2026-08-18"`
	UtilizationPercent int    `json:"utilizationPercent" doc:"The use of vCPUs that is assumed"`
}

func newCarbonSource() CarbonSource {
	s := carbon.Coefficients()
	return CarbonSource{s.Name, s.Version, s.Licence, s.Date, carbon.Utilization}
}

// emitter is a machine on a page of resource costs that has carbon coefficients.
type emitter struct {
	*inventory.Listed
	hourly money.Amount // kilograms of CO2e
	item   *ResourceCost
}

// newEmitter returns the machine of an item. It returns false if the machine has no coefficients.
func newEmitter(r *inventory.Listed, item *ResourceCost) (emitter, bool) {
	kg, known := carbon.EstimateHourly(carbon.Machine{
		Type: r.Type, Class: r.InstanceType, Region: r.Region,
		Inputs: r.PriceInputs,
	})
	return emitter{r, kg, item}, known
}

// maxPageChanges is the most state changes that are read for a page: 100 machines, stopped and started every day of a
// quarter. A page with more changes has no carbon estimates.
const maxPageChanges = 20_000

// estimateCarbon sets the estimated emissions of the machines of a page between two times. It reads all state
// histories in one round trip.
func (s *service) estimateCarbon(ctx context.Context, machines []emitter, from, to time.Time) error {
	if len(machines) == 0 {
		return nil
	}
	pks := make([]string, len(machines))
	for i, m := range machines {
		pks[i] = execution.HistoryResourcePK(identity.CallerOrg(ctx), m.UID)
	}
	items, err := table.NewMerge(s.p.Table, table.Query{From: id.LowestAt("sh", from)}, pks...).Next(ctx,
		maxPageChanges+1)
	if err != nil {
		return fault.Wrap("read the state history of machines", err)
	}
	changes, err := table.DecodeAll[execution.StateChange](items)
	if err != nil || len(changes) > maxPageChanges {
		return err
	}
	of := map[string][]execution.StateChange{}
	for _, c := range changes {
		of[c.ResourceUID] = append(of[c.ResourceUID], c)
	}
	to = clock.Earliest(to, s.p.Clock.Now())
	for _, m := range machines {
		if ran, known := runningTime(m.Listed, of[m.UID], from, to); known {
			kg := m.hourly.MulDiv(money.FromInt(int64(ran/time.Second)), money.FromInt(3600)).Fixed(6)
			hours := money.FromInt(int64(ran / time.Second)).DivInt(3600).Fixed(2)
			m.item.CarbonKgCO2e, m.item.CarbonHours = &kg, &hours
		}
	}
	return nil
}

// runningTime returns how long a machine ran between from and to; to is not in the future. changes are the state
// changes since from, in order. It returns false if the running time is unknown. The state before the first change
// follows from that change; without changes, the machine's last seen state applies to the whole time.
func runningTime(r *inventory.Listed, changes []execution.StateChange, from, to time.Time) (time.Duration, bool) {
	if r.Status == cloud.Terminated {
		to = clock.Earliest(to, r.LastSeenAt)
	}
	changes = slices.DeleteFunc(slices.Clone(changes), func(c execution.StateChange) bool {
		return c.State != string(cloud.Running) && c.State != string(cloud.Stopped)
	})
	on, known := runs(r.Status)
	since := r.DiscoveredAt
	if len(changes) > 0 {
		on, known, since = changes[0].State == string(cloud.Stopped), true, clock.Earliest(since, changes[0].ChangedAt)
	}
	at := clock.Latest(from, since)
	if !known || !at.Before(to) {
		return 0, false
	}
	ran := time.Duration(0)
	for _, c := range changes {
		end := clock.Latest(at, clock.Earliest(c.ChangedAt, to))
		if on {
			ran += end.Sub(at)
		}
		at, on = end, c.State == string(cloud.Running)
	}
	if on {
		ran += to.Sub(at)
	}
	return ran, true
}

// runs reports whether a machine in state s runs. known is false if s does not determine it.
func runs(s cloud.Status) (on, known bool) {
	on = s == cloud.Running || s == cloud.Stopping
	return on, on || s == cloud.Stopped || s == cloud.Starting
}
