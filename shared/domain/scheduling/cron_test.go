package scheduling

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/foundation/fault"
)

func mustCron(t testing.TB, expression string) Cron {
	t.Helper()
	c, err := ParseCron("cron", expression)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	v, err := time.Parse("2006-01-02T15:04Z07:00", text)
	if err != nil {
		t.Fatal(err)
	}
	return v.UTC()
}

func TestCron_FiresOnTheDaysOnWhichClocksAreSet(t *testing.T) {
	for name, c := range map[string]struct{ zone, cron, from, to, want string }{
		"a time that Berlin goes over fires at the first minute after": {
			"Europe/Berlin", "30 2 * * *",
			"2026-03-29T00:00Z", "2026-03-30T00:00Z", "03-29T01:00",
		},
		"two that Berlin goes over fire once together": {
			"Europe/Berlin", "5,45 2 * * *",
			"2026-03-29T00:00Z", "2026-03-30T00:00Z", "03-29T01:00",
		},
		"with the first minute after the gap it is one firing": {
			"Europe/Berlin", "0 2,3 * * *",
			"2026-03-29T00:00Z", "2026-03-30T00:00Z", "03-29T01:00",
		},
		"one that Berlin shows twice fires the first time": {
			"Europe/Berlin", "30 2 * * *",
			"2026-10-25T00:00Z", "2026-10-26T00:00Z", "10-25T00:30",
		},
		"every hour of the day that has 25": {
			"Europe/Berlin", "0 1-4 * * *",
			"2026-10-24T23:00Z", "2026-10-25T12:00Z", "10-24T23:00 10-25T00:00 10-25T02:00 10-25T03:00",
		},
		"New York goes over": {
			"America/New_York", "30 2 * * *",
			"2026-03-08T00:00Z", "2026-03-09T00:00Z", "03-08T07:00",
		},
		"New York shows twice": {
			"America/New_York", "30 1 * * *",
			"2026-11-01T00:00Z", "2026-11-02T00:00Z", "11-01T05:30",
		},
		"Lord Howe goes over half an hour": {
			"Australia/Lord_Howe", "15 2 * * *",
			"2026-10-03T12:00Z", "2026-10-04T12:00Z", "10-03T15:30",
		},
		"Lord Howe shows half an hour twice": {
			"Australia/Lord_Howe", "45 1 * * *",
			"2026-04-04T12:00Z", "2026-04-05T12:00Z", "04-04T14:45",
		},
		"Santiago has no midnight": {
			"America/Santiago", "0 0 * * *",
			"2026-09-05T12:00Z", "2026-09-06T12:00Z", "09-06T04:00",
		},
		"Havana shows midnight twice": {
			"America/Havana", "30 0 * * *",
			"2026-11-01T00:00Z", "2026-11-02T00:00Z", "11-01T04:30",
		},
		"Apia had no 30 December 2011": {
			"Pacific/Apia", "0 12 30 12 *",
			"2011-12-28T00:00Z", "2012-01-02T00:00Z", "12-30T10:00",
		},
		"Chatham is 45 minutes off, and goes over 2:45": {
			"Pacific/Chatham", "50 2 * * *",
			"2026-09-26T06:00Z", "2026-09-27T06:00Z", "09-26T14:00",
		},
		"Troll goes over two hours": {
			"Antarctica/Troll", "30 1,2 * * *",
			"2026-03-28T12:00Z", "2026-03-29T12:00Z", "03-29T01:00",
		},
		"Kolkata never sets its clocks": {
			"Asia/Kolkata", "30 2 * * *",
			"2026-03-28T12:00Z", "2026-03-29T12:00Z", "03-28T21:00",
		},
	} {
		var got []string
		for _, f := range firingsOf(mustCron(t, c.cron), at(t, c.from), at(t, c.to), mustZone(t, c.zone)) {
			got = append(got, f.Format("01-02T15:04"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q fires at %q, want %q", name, c.cron, got, c.want)
		}
	}
}

func TestCron_ReadsWhatCronReads(t *testing.T) {
	for name, c := range map[string]struct{ cron, from, want string }{
		"Sunday is 0":                              {"0 0 * * 0", "2026-03-10T00:00Z", "2026-03-15T00:00"},
		"Sunday is 7":                              {"0 0 * * 7", "2026-03-10T00:00Z", "2026-03-15T00:00"},
		"a range that ends in 7":                   {"0 0 * * 6-7", "2026-03-14T00:00Z", "2026-03-15T00:00"},
		"a range that ends in sun":                 {"0 0 * * fri-sun", "2026-03-14T00:00Z", "2026-03-15T00:00"},
		"names in any case":                        {"0 0 * MAR,apr Mon-Wed", "2026-03-11T00:00Z", "2026-03-16T00:00"},
		"a step of all":                            {"*/20 * * * *", "2026-03-10T09:01Z", "2026-03-10T09:20"},
		"a step of a range":                        {"0 8-18/5 * * *", "2026-03-10T09:00Z", "2026-03-10T13:00"},
		"a step from a value goes to the end":      {"5/20 * * * *", "2026-03-10T09:26Z", "2026-03-10T09:45"},
		"a list":                                   {"3,1,2 0 * * *", "2026-03-10T00:01Z", "2026-03-10T00:02"},
		"either day is enough where both are set":  {"0 0 13 * 5", "2026-03-10T00:00Z", "2026-03-13T00:00"},
		"the day of the week though the month day": {"0 0 20 * 1", "2026-03-10T00:00Z", "2026-03-16T00:00"},
		"a step of all is a restriction":           {"0 0 */30 * 1", "2026-03-10T00:00Z", "2026-03-16T00:00"},
		"a step of 1 is none":                      {"0 0 */1 * 1", "2026-03-10T00:00Z", "2026-03-16T00:00"},
		"29 February waits for a leap year":        {"0 0 29 2 *", "2026-03-10T00:00Z", "2028-02-29T00:00"},
		"29 February across 2100":                  {"0 0 29 2 *", "2096-03-01T00:00Z", "2104-02-29T00:00"},
		"spaces and tabs":                          {" 0\t0  * * * ", "2026-03-10T00:00Z", "2026-03-11T00:00"},
	} {
		got, ok := mustCron(t, c.cron).Next(at(t, c.from), time.UTC)
		if !ok || got.Format("2006-01-02T15:04") != c.want {
			t.Errorf("%s: %q fires at %v, %v; want %s", name, c.cron, got, ok, c.want)
		}
	}
}

func TestParseCron_NamesWhatIsWrong(t *testing.T) {
	for _, c := range []struct{ cron, says string }{
		{"", "has 0 fields"},
		{"* * * *", "has 4 fields"},
		{"0 8 * * 1-5\n", "line break"},
		{"0 8 *\r\n* 1-5", "line break"},
		{"0 8 *\u00a0* 1-5", "plain spaces"},
		{"0 8 *\u2028* 1-5", "plain spaces"},
		{"0 8 * * 1-5\x00", "line break"},
		{"* * * * * *", "has 6 fields"},
		{"@reboot", "0 0 * * *"},
		{"60 * * * *", `minute "60"`},
		{"-1 * * * *", `minute "-1"`},
		{"* 24 * * *", `hour "24"`},
		{"* * 0 * *", `day of month "0"`},
		{"* * 32 * *", `day of month "32"`},
		{"* * * 13 *", `month "13"`},
		{"* * * 0 *", `month "0"`},
		{"* * * * 8", `day of week "8"`},
		{"* * * * 1-", `day of week "1-"`},
		{"1-2-3 * * * *", `minute "1-2-3"`},
		{"30-10 * * * *", "write 30-59,0-10"},
		{"* * * * 5-1", "backwards"},
		{"*/0 * * * *", "step"},
		{"*/61 * * * *", "step"},
		{"*/-1 * * * *", "step"},
		{"*/ * * * *", "step"},
		{"1,,2 * * * *", `""`},
		{"? * * * *", `"?"`},
		{"L * * * *", `"L"`},
		{"+1 * * * *", `"+1"`},
		{"١ * * * *", "minute"},
		{"* * * * mon#1", `"mon#1"`},
		{"* * 30 feb *", "never fires"},
		{"* * 31 2,4,6,9,11 *", "never fires"},
		{strings.Repeat("1,", 200) + "1 * * * *", "too long"},
	} {
		_, err := ParseCron("crons[3].cronExpression", c.cron)
		if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "crons[3].cronExpression") ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v; want %q", c.cron, err, c.says)
		}
	}
	for _, possible := range []string{"* * 30 feb 1", "* * 29 feb *", "* * 31 1 *", "* * * feb *"} {
		mustCron(t, possible)
	}
}

// FuzzParseCron checks that ParseCron does not panic, and that each valid expression has a firing that the oracle
// confirms and that Prev returns.
func FuzzParseCron(f *testing.F) {
	for _, s := range []string{
		"* * * * *", "*/5 8-18 1,15 jan-mar mon", "0 0 29 2 *", "30 2 * * 7", "0 0 30 2 *",
		"5/10 * * * fri-sun",
	} {
		f.Add(s, int64(1_774_000_000), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, unix int64, zone uint8) {
		c, err := ParseCron("cron", text)
		if err != nil {
			return
		}
		loc := mustZone(t, oracleZones[int(zone)%len(oracleZones)])
		from := time.Unix(unix%4_000_000_000, 0).UTC()
		if from.Year() < 1980 {
			from = from.AddDate(60, 0, 0)
		}
		got, ok := c.Next(from, loc)
		if !ok || !got.After(from) {
			t.Fatalf("%q in %s after %s: %s, %v", text, loc, from, got, ok)
		}
		if again, ok := c.Prev(got, loc); !ok || !again.Equal(got) {
			t.Fatalf("%q in %s: the last firing at %s is %s, %v", text, loc, got, again, ok)
		}
		if next, _ := c.Next(got.Add(-time.Minute), loc); !next.Equal(got) {
			t.Fatalf("%q in %s: fires at %s, then at %s", text, loc, got, next)
		}
	})
}

// TestCron_Instants compares Cron with the oracle at 100,000 random minutes, or at 1,000,000 with LAMPLIGHTER_PEERS
// set (make test-peers).
func TestCron_Instants(t *testing.T) {
	n := 100_000
	if os.Getenv("LAMPLIGHTER_PEERS") != "" {
		n = 1_000_000
	}
	fires := compareInstants(t, n)
	t.Logf("%d expressions × instants × zones, of which %d fire", n, fires)
	if fires < n/50 {
		t.Errorf("only %d fire", fires)
	}
}

func ExampleCron_Next() {
	c, _ := ParseCron("cron", "30 2 * * *")
	berlin, _ := time.LoadLocation("Europe/Berlin")
	next, _ := c.Next(time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC), berlin)
	fmt.Println(next, next.In(berlin).Format("15:04"))
	// Output: 2026-03-29 01:00:00 +0000 UTC 03:00
}
