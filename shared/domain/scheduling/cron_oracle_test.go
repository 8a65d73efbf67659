package scheduling

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/seed"
)

// oracle is a slow and simple implementation of a cron expression: it compares each field with each minute.
type oracle [5]string

var oracleNames = map[string]int{
	"jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6, "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11,
	"dec": 12,
	"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6,
}

func oracleNumber(s string) int {
	if n, ok := oracleNames[strings.ToLower(s)]; ok {
		return n
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// has reports whether field i contains value v. Sunday is queried as 0 and as 7.
func (o oracle) has(i, v int) bool {
	low, high := [5]int{0, 0, 1, 1, 0}[i], [5]int{59, 23, 31, 12, 6}[i]
	for part := range strings.SplitSeq(o[i], ",") {
		span, step, stepped := strings.Cut(part, "/")
		every := 1
		if stepped {
			every = oracleNumber(step)
		}
		from, to := low, high
		if first, last, ranged := strings.Cut(span, "-"); ranged {
			from, to = oracleNumber(first), oracleNumber(last)
		} else if span != "*" {
			from = oracleNumber(span)
			if !stepped {
				to = from
			}
		}
		if v >= from && v <= max(to, from) && (v-from)%every == 0 {
			return true
		}
	}
	return false
}

// matches reports whether the expression contains the local minute shown, which is given as if it were UTC.
func (o oracle) matches(shown time.Time) bool {
	if !o.has(0, shown.Minute()) || !o.has(1, shown.Hour()) || !o.has(3, int(shown.Month())) {
		return false
	}
	day := o.has(2, shown.Day())
	week := o.has(4, int(shown.Weekday())) || shown.Weekday() == time.Sunday && o.has(4, 7)
	if free := func(s string) bool {
		return s == "*" || s == "*/1"
	}; slices.ContainsFunc(strings.Split(o[2], ","), free) ||
		slices.ContainsFunc(strings.Split(o[4], ","), free) {
		return day && week
	}
	return day || week
}

// firings returns the firings in [from, to). It walks through every minute of UTC. A minute fires when its local time
// matches and did not occur before. The first minute after a forward clock change also fires when a skipped local
// time matches.
func (o oracle) firings(from, to time.Time, loc *time.Location) []time.Time {
	shown := func(t time.Time) time.Time {
		_, offset := t.In(loc).Zone()
		return t.Add(time.Duration(offset) * time.Second).UTC()
	}
	var out []time.Time
	seen := shown(from.Add(-48 * time.Hour)) // the latest local time so far
	for t := from.Add(-48 * time.Hour).Add(time.Minute); t.Before(to); t = t.Add(time.Minute) {
		now, fires := shown(t), false
		for seen.Before(now) {
			seen = seen.Add(time.Minute)
			fires = fires || o.matches(seen)
		}
		if fires && !t.Before(from) {
			out = append(out, t)
		}
	}
	return out
}

// oracleZones have clock changes of an hour, of half an hour, of a day, at midnight, and no clock change.
var oracleZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "America/St_Johns", "Australia/Lord_Howe", "America/Sao_Paulo",
	"Asia/Tehran",
	"Pacific/Apia", "Africa/Casablanca", "America/Havana", "Asia/Kolkata", "Asia/Kathmandu", "Pacific/Kiritimati",
	"Africa/Cairo",
	"America/Santiago", "Asia/Beirut", "Europe/Dublin", "Antarctica/Troll", "Asia/Gaza", "Pacific/Chatham",
}

// randomField returns a random field: *, values, names, ranges and steps.
func randomField(r *rand.Rand, i int) string {
	low, high := [5]int{0, 0, 1, 1, 0}[i], [5]int{59, 23, 31, 12, 7}[i]
	value := func(n int) string {
		if names := fields[i].names; names != nil && n-low < len(names) && r.IntN(3) == 0 {
			return names[n-low]
		}
		return strconv.Itoa(n)
	}
	part := func() string {
		a, b := low+r.IntN(high-low+1), low+r.IntN(high-low+1)
		a, b = min(a, b), max(a, b)
		switch r.IntN(8) {
		case 0, 1:
			return "*"
		case 2:
			return "*/" + strconv.Itoa(1+r.IntN(high-low))
		case 3:
			return value(a) + "-" + value(b)
		case 4:
			return value(a) + "-" + value(b) + "/" + strconv.Itoa(1+r.IntN(high-low))
		case 5:
			if i == 4 && a == 7 {
				a = 6
			}
			return value(a) + "/" + strconv.Itoa(1+r.IntN(high-low))
		}
		return value(a)
	}
	parts := []string{part()}
	for r.IntN(4) == 0 {
		parts = append(parts, part())
	}
	return strings.Join(parts, ",")
}

func randomExpression(r *rand.Rand) string {
	var parts [5]string
	for i := range parts {
		if parts[i] = randomField(r, i); i > 1 && r.IntN(2) == 0 {
			parts[i] = "*"
		}
	}
	return strings.Join(parts[:], " ")
}

// parseRandom returns a random expression that can fire, its Cron and its oracle.
func parseRandom(t testing.TB, r *rand.Rand) (string, Cron, oracle) {
	t.Helper()
	for {
		text := randomExpression(r)
		c, err := ParseCron("cron", text)
		if err == nil {
			return text, c, oracle(strings.Fields(text))
		}
		if !strings.Contains(err.Error(), "never fires") {
			t.Fatalf("%q: %v", text, err)
		}
	}
}

func mustZone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

// nearJump returns a time in the days around a clock change of the zone, or any time if the zone has no clock change
// then.
func nearJump(r *rand.Rand, loc *time.Location) time.Time {
	at := time.Date(2007+r.IntN(40), time.Month(1+r.IntN(12)), 1+r.IntN(28), r.IntN(24), r.IntN(60), 0, 0, time.UTC)
	from, to := at.Unix(), at.AddDate(0, 8, 0).Unix()
	if offsetAt(from, loc) != offsetAt(to, loc) && r.IntN(4) > 0 {
		at = time.Unix(setAt(from, to, loc), 0).UTC().Add(time.Duration(r.IntN(48*60)-30*60) * time.Minute)
	}
	return at.Truncate(time.Minute)
}

// TestCron_Oracle compares the firings of Cron with those of the oracle for random expressions, instants and zones,
// mostly on the days around clock changes.
func TestCron_Oracle(t *testing.T) {
	expressions := 2_000 // × 1,440 minutes
	if testing.Short() {
		expressions = 300
	}
	r := seed.Fixed(t, 1, 2)
	zones := make([]*time.Location, len(oracleZones))
	for i, name := range oracleZones {
		zones[i] = mustZone(t, name)
	}
	var compared, fired int
	for range expressions {
		text, c, o := parseRandom(t, r)
		loc := zones[r.IntN(len(zones))]
		from := nearJump(r, loc)
		to := from.Add(24 * time.Hour)
		want := o.firings(from, to, loc)
		got := firingsOf(c, from, to, loc)
		if !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("%q in %s from %s: got %d %v, want %d %v", text, loc, from, len(got), got[:min(9, len(got))],
				len(want), want[:min(9, len(want))])
		}
		comparePrev(t, text, prevCase{c, loc, from, to, want})
		compared, fired = compared+24*60, fired+len(want)
	}
	t.Logf("%d expressions, %d minutes, %d firings", expressions, compared, fired)
	if fired < compared/1000 {
		t.Errorf("only %d firings: the expressions hardly test anything", fired)
	}
}

func firingsOf(c Cron, from, to time.Time, loc *time.Location) []time.Time {
	var out []time.Time
	for at, ok := c.Next(from.Add(-time.Minute), loc); ok && at.Before(to); at, ok = c.Next(at, loc) {
		out = append(out, at)
	}
	return out
}

type prevCase struct {
	c        Cron
	loc      *time.Location
	from, to time.Time
	want     []time.Time
}

// comparePrev compares the last firing at every seventh minute of the case.
func comparePrev(t *testing.T, text string, p prevCase) {
	t.Helper()
	i := -1
	for at := p.from; at.Before(p.to); at = at.Add(7 * time.Minute) {
		for i+1 < len(p.want) && !p.want[i+1].After(at) {
			i++
		}
		if i < 0 {
			continue
		}
		if got, ok := p.c.Prev(at.Add(59*time.Second), p.loc); !ok || !got.Equal(p.want[i]) {
			t.Fatalf("%q in %s: last firing at %s is %s, %v; want %s", text, p.loc, at, got, ok, p.want[i])
		}
	}
}

// firesAt reports whether the minute t fires. It needs only the local times of t and of the day before.
func (o oracle) firesAt(t time.Time, loc *time.Location) bool {
	offset := func(t time.Time) time.Duration {
		_, s := t.In(loc).Zone()
		return time.Duration(s) * time.Second
	}
	now := offset(t)
	before := offset(t.Add(-time.Minute))
	for gap := now - before; gap > 0; gap -= time.Minute { // clocks went forward in this minute
		if o.matches(t.Add(now - gap)) {
			return true
		}
	}
	if !o.matches(t.Add(now)) {
		return false
	}
	for back := time.Duration(0); back <= 25*time.Hour; back += 15 * time.Minute {
		if was := offset(t.Add(-back)); was > now && offset(t.Add(now-was)) == was { // they showed the same then
			return false
		}
	}
	return true
}

// compareInstants compares Cron and oracle for n random expressions, instants and zones. It returns the number of
// firings.
func compareInstants(t *testing.T, n int) (fires int) {
	t.Helper()
	r := seed.Fixed(t, 3, 4)
	zones := make([]*time.Location, len(oracleZones))
	for i, name := range oracleZones {
		zones[i] = mustZone(t, name)
	}
	var instants []time.Time // around jumps, of each zone
	for i := range 64 * len(zones) {
		instants = append(instants, nearJump(r, zones[i%len(zones)]))
	}
	for range n {
		text, c, o := parseRandom(t, r)
		i := r.IntN(len(instants))
		loc, at := zones[i%len(zones)], instants[i].Add(time.Duration(r.IntN(240))*time.Minute)
		if r.IntN(2) == 0 { // at a firing rather than anywhere
			at, _ = c.Next(at, loc)
		}
		got, _ := c.Next(at.Add(-time.Minute), loc)
		if want := o.firesAt(at, loc); got.Equal(at) != want {
			t.Fatalf("%q in %s at %s: fires %v, want %v", text, loc, at, got.Equal(at), want)
		} else if want {
			fires++
		}
	}
	return fires
}
