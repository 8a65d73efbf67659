package discovery

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/discovery"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/measurement"
)

// Measuring replaces the parts of a share that collects the usage of the account's resources on one day or several.
// Resources with UIDs greater than After are still to be measured. The first pass of an account after midnight has such
// a share.
type Measuring struct {
	Day   time.Time              `json:"day"`            // its first moment
	Days  int                    `json:"days,omitempty"` // up to and including Day; 0 is 1
	After string                 `json:"after,omitempty"`
	Part  int                    `json:"part,omitempty"`
	Tries int                    `json:"tries,omitempty"` // of this part, so far
	Sum   measurement.Collection `json:"sum"`
	// Measured says that the day was measured before, and only candidates are left. Confirm says that there are some.
	Measured bool `json:"measured,omitempty"`
	Confirm  bool `json:"confirm,omitempty"`
}

// These constants set how many days of resources one run measures (in memory), how often it tries, how long it waits
// between tries, and how many requests run at the same time.
const (
	perMeasuring   = 20_000
	maxMeasuring   = 4
	measuringPause = time.Minute
	measuredAtOnce = 4
)

// backfilledDays is how many days are collected for an account that was not measured for as long: the window of most
// rules, so that they can be decided on the first day. Providers charge for a series, not for its days.
const backfilledDays = 14

// mostBackfilled limits the days of all resources together, so that the first collection of a large account ends before
// its next pass.
const mostBackfilled = 700_000

// daysSince returns how many days up to yesterday were not collected yet, at most backfilledDays. last is the last
// collected day, "" if there is none.
func daysSince(last string, yesterday time.Time, resources int) int {
	days := backfilledDays
	if at, err := time.Parse(time.DateOnly, last); err == nil {
		days = min(days, int(yesterday.Sub(at)/(24*time.Hour)))
	}
	return max(min(days, mostBackfilled/max(resources, 1)), 1)
}

// measuringDue returns the share that measures yesterday and the days before it that were missed, unless that was done.
// An account that was never discovered has nothing to measure.
func (w *worker) measuringDue(ctx context.Context, in discovery.Input, a inventory.Account) ([]Share, error) {
	if a.LastDiscoveredAt.IsZero() {
		return nil, nil
	}
	last, err := w.measurements.LastCollection(ctx, in.Org, a.ID)
	if err != nil {
		return nil, err
	}
	m := measuringAfter(last, w.p.Clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1), a.ResourceCount)
	if m == nil {
		return nil, nil
	}
	return []Share{{Input: in, Started: w.p.Clock.Now(), Parts: []Progress{}, Measuring: m}}, nil
}

// measuringAfter returns what is to be measured after the last collection, or nil.
func measuringAfter(last measurement.Collection, yesterday time.Time, resources int) *Measuring {
	switch {
	case last.Day < measurement.DayOf(yesterday):
		return &Measuring{
			Day: yesterday, Days: daysSince(last.Day, yesterday, resources), Confirm: last.Candidates,
			Sum: measurement.Collection{ConfirmedAt: last.ConfirmedAt},
		}
	case last.Candidates:
		return &Measuring{Day: yesterday, Measured: true, Confirm: true, Sum: last}
	}
	return nil
}

// measureShare collects a part of the account's resources, and records the result. After the last part it reads the
// machine types that are due, and confirms candidates.
func (w *worker) measureShare(ctx context.Context, sh Share, a inventory.Account, conn cloud.Conn) (Share, error) {
	m, ok := conn.(cloud.Metered)
	if !ok {
		sh.Done = true
		return sh, nil
	}
	measuring := *sh.Measuring
	sh.Measuring = &measuring
	if measuring.Measured {
		sh.Done = true
		return sh, w.confirmCandidates(ctx, sh, m)
	}
	days := max(measuring.Days, 1)
	limit := max(perMeasuring/days, 1)
	found, err := w.measurableAfter(ctx, sh.Org, a.ID, after{measuring.After, limit})
	if err != nil {
		return sh, err
	}
	d := measurement.Day{Start: measuring.Day, Part: measuring.Part}
	c := &collector{conn: m, day: d.Start, days: days, all: map[time.Time][]measurement.Series{}}
	all, err := c.collect(ctx, found)
	if err != nil && measuring.Tries < maxMeasuring {
		sh.Measuring.Tries, sh.WaitSeconds = measuring.Tries+1, int(measuringPause.Seconds())
		sh.Measuring.Sum = c.addTo(measuring.Sum) // failed requests cost money, too
		return sh, nil
	}
	for start, series := range all {
		if err = w.measurements.WriteDay(ctx, sh.Org, a.ID, partOf(d, start), series); err != nil {
			return sh, err
		}
	}
	measuring.Sum = c.addTo(measuring.Sum)
	measuring.Sum.Resources += len(found)
	measuring.Part, measuring.Tries = measuring.Part+1, 0
	if sh.Done = len(found) < limit; !sh.Done {
		measuring.After = found[len(found)-1].UID
		return sh, nil
	}
	measuring.Sum.Day, measuring.Sum.CollectedAt = measurement.DayOf(measuring.Day), w.p.Clock.Now()
	w.p.Log.InfoContext(ctx, "metrics were collected", "account", a.ID, "day", measuring.Sum.Day,
		"calls", measuring.Sum.Calls, "usd", measuring.Sum.USD)
	if err = w.renewSizes(ctx, sh.Org, a, conn); err != nil {
		return sh, err
	}
	return sh, w.confirmCandidates(ctx, sh, m)
}

// laterParts is the first part number of a collection that another night continues, so that the two collections do
// not overwrite each other.
const laterParts = 500

// partOf returns the part of day d that a collection with this start writes.
func partOf(d measurement.Day, start time.Time) measurement.Day {
	if !start.Equal(d.Start) {
		d.Part += laterParts
	}
	d.Start = start
	return d
}

// after is a page of resources: those with UIDs greater than uid, at most limit.
type after struct {
	uid   string
	limit int
}

// measurableAfter lists a page of the account's resources whose type is measured.
func (w *worker) measurableAfter(ctx context.Context, org, accountID string, page after) ([]inventory.Listed, error) {
	var types []string
	for _, k := range cloud.Catalogue() {
		if k.Measured {
			types = append(types, k.Type)
		}
	}
	return w.inventory.FindResources(ctx, org, inventory.List{
		Filter: inventory.Filter{
			Accounts: []string{accountID}, Types: types, Sight: inventory.SeeEverything(),
			Statuses: []string{"running", "stopped", "starting", "stopping", "pending", "unknown"},
		},
		By: inventory.ByUID, After: page.uid, Limit: page.limit,
	})
}

// collector collects the measurements of days. Denied and unknown metrics are skipped and reported. Transient failures
// are errors.
type collector struct {
	conn cloud.Metered
	day  time.Time // the last one
	days int

	mu     sync.Mutex
	all    map[time.Time][]measurement.Series // by the first moment of the day
	sum    measurement.Collection
	failed error // that may pass
}

// measureRequest names the resources of one request: a type in a region, the number of days, and the condition on facts
// that they meet, "" for none.
type measureRequest struct {
	kind, region, when string
	days               int
}

func (c *collector) collect(ctx context.Context, found []inventory.Listed) (map[time.Time][]measurement.Series, error) {
	groups := map[measureRequest][]string{}
	for _, r := range found {
		if days := cloud.MeasuredDays(r.Type, r.UID, c.day, c.days); days > 0 {
			g := measureRequest{r.Type, r.Region, cloud.ConditionMet(r.Type, r.PriceInputs), days}
			groups[g] = append(groups[g], r.UID)
		}
	}
	order := slices.SortedFunc(maps.Keys(groups), func(a, b measureRequest) int {
		return strings.Compare(a.region+a.kind+a.when, b.region+b.kind+b.when)
	})
	cloud.InParallel(len(order), measuredAtOnce, func(i int) { c.askMeasures(ctx, order[i], groups[order[i]]) })
	return c.all, c.failed
}

// askMeasures collects all measurements of the resources of one type in one region.
func (c *collector) askMeasures(ctx context.Context, of measureRequest, uids []string) {
	r := cloud.MetricRequest{
		Type: of.kind, Region: of.region, UIDs: uids, Measures: cloud.MeasuresWhen(of.kind, of.when), Period: time.Hour,
		From: c.day.AddDate(0, 0, 1-of.days), To: c.day.AddDate(0, 0, 1),
	}
	got, err := c.conn.Metrics(ctx, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sum.Calls, c.sum.Queries, c.sum.USD = c.sum.Calls+got.Calls, c.sum.Queries+got.Queries, c.sum.USD+got.USD
	if err != nil {
		err = fmt.Errorf("metrics of %s in %s: %w", of.kind, of.region, err)
		if mayPass(err) {
			c.failed = err
		}
		if c.sum.Error == "" {
			c.sum.Error = err.Error()
		}
		return
	}
	if got.UnreadReason != "" && c.sum.Error == "" {
		c.sum.Error = fmt.Sprintf("metrics of %s in %s: %s", of.kind, of.region, got.UnreadReason)
	}
	c.takeSeries(of.days, r, got)
	c.sum.Series += len(got.Points)
}

// mayPass reports whether a request may succeed later.
func mayPass(err error) bool {
	e, ok := errors.AsType[*cloud.Error](err)
	return !ok || e.Class.Retryable()
}

// takeSeries adds a series for each metric of each resource on each of the last days. A series has no value if the
// provider has none. An unread measure has no series: a series without values says that a count is 0.
func (c *collector) takeSeries(days int, r cloud.MetricRequest, got cloud.MetricAnswer) {
	got.EachRead(r, func(uid string, measure int, p cloud.Points) {
		for n := range days {
			day := c.day.AddDate(0, 0, -n)
			c.all[day] = append(c.all[day], measurement.NewSeries(uid, r.Measures[measure], day, p))
		}
	})
}

// addTo adds the cost and series of this run to those of the earlier runs.
func (c *collector) addTo(sum measurement.Collection) measurement.Collection {
	sum.Series, sum.Calls, sum.Queries, sum.USD = sum.Series+c.sum.Series, sum.Calls+c.sum.Calls,
		sum.Queries+c.sum.Queries, sum.USD+c.sum.USD
	if sum.Error == "" {
		sum.Error = c.sum.Error
	}
	return sum
}
