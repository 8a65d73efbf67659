package anomaly

import (
	"compress/gzip"
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/money"
)

const labelledDays = 400

// labelled is the series of a scope of the labelled set: as billed without and with one-time charges, and without the
// injected costs.
type labelled struct {
	usage, all, normal []money.Amount
	members            map[string]bool // the resources of an account, a group or a team
}

// The labelled sets: made by two programs, with other shapes of costs.
const (
	firstSet  = "synthetic_labelled_daily_cost.csv.gz"
	secondSet = "second_set_daily_cost.csv.gz"
)

// readLabelled reads a labelled set, by scope.
func readLabelled(t testing.TB, name string) map[Scope]*labelled {
	t.Helper()
	folder := os.Getenv("LAMPLIGHTER_DATA")
	if folder == "" {
		folder = "../../../../shared/data"
	}
	f, err := os.Open(filepath.Join(folder, "anomaly", name))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("THE DETECTOR IS NOT MEASURED: %v; LAMPLIGHTER_DATA names the folder of the data", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close() //nolint:errcheck // it is read
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := csv.NewReader(z)
	if _, err = lines.Read(); err != nil {
		t.Fatal(err)
	}
	out := map[Scope]*labelled{}
	for {
		l, err := lines.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		addLabelled(t, out, l)
	}
}

// addLabelled adds a line: date, resource, type, account, group, team, usage, recurring fee, seen the next day,
// counterfactual.
func addLabelled(t testing.TB, to map[Scope]*labelled, l []string) {
	t.Helper()
	at, err := time.Parse(time.DateOnly, l[0])
	if err != nil {
		t.Fatal(err)
	}
	day := int(at.Sub(time.Date(2025, 10, 1, 0, 0, 0, 0, time.UTC)) / (24 * time.Hour))
	usage, fee, normal := money.MustParse(l[6]), money.MustParse(l[7]), money.MustParse(l[9])
	for _, s := range []Scope{
		{Type: Org},
		{Resource, l[1]},
		{CloudAccount, l[3]},
		{ResourceGroup, l[4]},
		{Team, l[5]},
	} {
		d := to[s]
		if d == nil {
			d = newLabelled()
			to[s] = d
		}
		if s.Type != Resource {
			d.members[l[1]] = true
		}
		d.usage[day] = d.usage[day].Add(usage)
		d.all[day] = d.all[day].Add(usage).Add(fee)
		d.normal[day] = d.normal[day].Add(normal)
	}
}

func newLabelled() *labelled {
	return &labelled{
		usage: make([]money.Amount, labelledDays), all: make([]money.Amount, labelledDays),
		normal: make([]money.Amount, labelledDays), members: map[string]bool{},
	}
}

// score is the quality of a detector.
type score struct {
	alerts            int
	precision, recall float64 // recall: of the runs of anomalous days of a scope, those found within three days
}

// measure runs a detector over a labelled set. A day of a scope is anomalous when its cost is 30 % and a floor above
// its cost without the injected costs.
func measure(set map[Scope]*labelled, r Rules, floor int64, series func(*labelled) []money.Amount) score {
	alerts := map[Scope][]bool{}
	for s := range set {
		alerts[s] = make([]bool, labelledDays+3)
	}
	var out score
	for _, f := range r.Pass(seriesOf(set, series), leastAge) {
		out.alerts++
		alerts[f.Scope][f.Day] = true
	}
	right, runs, found := 0, 0, 0
	for s, l := range set {
		truth := l.truth(money.FromInt(floor))
		for i := leastAge; i < labelledDays; i++ {
			if truth[i] && alerts[s][i] {
				right++
			}
			if !truth[i] || truth[i-1] {
				continue
			}
			runs++
			if slices.Contains(alerts[s][i:i+3], true) {
				found++
			}
		}
	}
	out.precision, out.recall = float64(right)/float64(out.alerts), float64(found)/float64(runs)
	return out
}

// seriesOf returns the series of all scopes, with their resources.
func seriesOf(set map[Scope]*labelled, days func(*labelled) []money.Amount) []Series {
	out, at := make([]Series, 0, len(set)), map[string]*Series{}
	for s, l := range set {
		out = append(out, Series{Scope: s, Days: money.SeriesOf(days(l)...), Until: labelledDays})
		if s.Type == Resource {
			at[s.ID] = &out[len(out)-1]
		}
	}
	for i := range out {
		for id := range set[out[i].Scope].members {
			out[i].Members = append(out[i].Members, at[id])
		}
	}
	return out
}

// truth reports for each day whether it is anomalous.
func (l *labelled) truth(floor money.Amount) []bool {
	out := make([]bool, labelledDays)
	for i := leastAge; i < labelledDays; i++ {
		out[i] = l.anomalous(i, floor)
	}
	return out
}

func (l *labelled) anomalous(i int, floor money.Amount) bool {
	excess := l.usage[i].Sub(l.normal[i])
	return excess.Cmp(floor) >= 0 && excess.MulInt(10).Cmp(l.normal[i].MulInt(3)) >= 0
}

func usageOf(l *labelled) []money.Amount { return l.usage }

// The figures are those of docs/operations/anomalies.md.
func TestRules_OnTheLabelledSets(t *testing.T) {
	for _, c := range []struct {
		name, file        string
		precision, recall float64
		alerts            int
	}{
		{"spikes, steps, ramps and runaway costs of a weekly rhythm", firstSet, 0.82, 0.94, 360},
		{"jobs every few days, usage at the month's end, refunds, noise and new levels", secondSet, 0.65, 0.9, 510},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
			got := measure(readLabelled(t, c.file), rules, 10, usageOf)
			t.Logf("%d alerts, precision %.3f, recall %.3f", got.alerts, got.precision, got.recall)
			if got.precision < c.precision || got.recall < c.recall || got.alerts > c.alerts {
				t.Errorf("%+v; want at least %+v", got, c)
			}
		})
	}
	t.Run("the bare rule reports every week's rhythm", func(t *testing.T) {
		all := func(l *labelled) []money.Amount { return l.all }
		got := measure(readLabelled(t, firstSet), Rules{Settings: Bare()}, 5, all)
		t.Logf("%d alerts, precision %.3f, recall %.3f", got.alerts, got.precision, got.recall)
		if got.precision > 0.05 || got.recall < 0.9 {
			t.Errorf("%+v; want a precision of 0.04", got)
		}
	})
}

// A pass over 100,000 series of the days that a night judges; the bar is 5 s.
func BenchmarkRules_Pass(b *testing.B) {
	set := readLabelled(b, firstSet)
	var resources []Scope
	for s := range set {
		if s.Type == Resource {
			resources = append(resources, s)
		}
	}
	slices.SortFunc(resources, compareIDs)
	all := make([]Series, 100_000)
	for i := range all {
		at := i * 7 % (labelledDays - WindowDays)
		days := set[resources[i%len(resources)]].usage[at : at+WindowDays]
		all[i] = Series{
			Scope: Scope{Resource, resources[i%len(resources)].ID}, Days: money.SeriesOf(days...), Until: WindowDays,
			Within: []Scope{{CloudAccount, "ca_1"}},
		}
	}
	r := Rules{Settings: DefaultSettings(), MinUSD: money.FromInt(1)}
	b.ResetTimer()
	for b.Loop() {
		b.ReportMetric(float64(len(r.Pass(all, comparedDays))), "findings")
	}
}

func compareIDs(a, b Scope) int {
	if a.ID < b.ID {
		return -1
	}
	return 1
}
