package azure

import (
	"maps"
	"slices"
	"time"

	"lamplighter.dev/shared/cloud"
)

// foundRuns is the newest run of each period, and the error of each period whose newest manifest cannot be read.
type foundRuns struct {
	newest map[typedPeriod]cloud.Delivery
	broken map[time.Time]error
}

// addBroken moves the errors of manifests whose folder names a period to that period, and returns the others.
func (f *foundRuns) addBroken(manifests []blob, errs []error, from time.Time) (others []error) {
	for i, err := range errs {
		period, ok := periodInPath(manifests[i].name)
		switch {
		case err == nil:
		case !ok || cloud.ClassOf(err) != cloud.Invalid:
			others = append(others, err)
		case f.broken[period] == nil && !period.Before(from):
			f.broken[period] = err
		}
	}
	return others
}

// periodInPath returns the first month that the folder of a run names.
func periodInPath(name string) (time.Time, bool) {
	days := daysInPath.FindStringSubmatch(name)
	if days == nil {
		return time.Time{}, false
	}
	period, err := parseDay(days[1])
	return period, err == nil
}

// brokenErrors returns the errors of the periods, the newest first.
func (f *foundRuns) brokenErrors() []error {
	var out []error
	for _, period := range slices.Backward(slices.SortedFunc(maps.Keys(f.broken), time.Time.Compare)) {
		out = append(out, f.broken[period])
	}
	return out
}

// markBroken marks the deliveries of the periods whose newest manifest cannot be read, and adds an empty one for a
// period without another delivery. It returns all deliveries by period.
func (f *foundRuns) markBroken(all []cloud.Delivery) []cloud.Delivery {
	for period, err := range f.broken {
		i := slices.IndexFunc(all, func(d cloud.Delivery) bool { return d.Period.Equal(period) })
		if i < 0 {
			i, all = len(all), append(all, cloud.Delivery{Source: cloud.StorageExport, Period: period, Rows: -1})
		}
		all[i].Broken, all[i].Notice = true, err.Error()
	}
	slices.SortFunc(all, func(a, b cloud.Delivery) int { return a.Period.Compare(b.Period) })
	return all
}
