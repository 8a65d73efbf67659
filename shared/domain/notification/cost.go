package notification

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/chart"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/foundation/money"
)

// budget is the data of a budget event, as written by budgeting.Message.
type budget struct {
	Name        string    `json:"name"`
	From        time.Time `json:"from"`
	To          time.Time `json:"to"`
	AmountUSD   string    `json:"amountUSD"`
	SpentUSD    string    `json:"spentUSD"`
	ForecastUSD string    `json:"forecastUSD"`
	Threshold   int       `json:"threshold"`
	Forecast    bool      `json:"forecast"`
}

func ofBudget(e *event.Event) MessageContent {
	d := read[budget](e)
	what := name(firstOf(d.Name, e.Subject, "A budget"))
	c := MessageContent{Title: "Budget exceeded", Tone: tones[e.Key]}
	said := "has spent"
	if e.Key != "budget.exceeded" {
		c.Title = "Budget threshold reached"
	}
	if d.Forecast {
		c.Title, said = "Budget threshold expected to be reached", "has so far spent"
	}
	c.Summary = fmt.Sprintf("%s %s %s of %s; the threshold is %d %%.", what, said, usd(d.SpentUSD), usd(d.AmountUSD),
		d.Threshold)
	c.Facts = facts(
		Fact{"Budget", what}, Fact{"For", scope(e)}, Fact{"Period", period(d.From, d.To)},
		Fact{"Spent", usd(d.SpentUSD)}, Fact{"Amount", usd(d.AmountUSD)},
		Fact{"Expected", usd(d.ForecastUSD)}, Fact{"Threshold", fmt.Sprintf("%d %%", d.Threshold)},
	)
	c.Bars = bars(amount{"Spent", d.SpentUSD, true}, amount{"Expected", d.ForecastUSD, d.Forecast},
		amount{"Amount", d.AmountUSD, false})
	return c
}

// anomaly is the data of an anomaly event, as written by anomaly.Message.
type anomaly struct {
	Date         string        `json:"date"`
	CostUSD      string        `json:"costUSD"`
	BaselineUSD  string        `json:"baselineUSD"`
	Percent      string        `json:"percent"` // empty for new spend
	Severity     string        `json:"severity"`
	Contributors []contributor `json:"contributors"`
}

type contributor struct {
	Key    string       `json:"key"`
	Others bool         `json:"others"`
	Excess money.Amount `json:"excessUSD"`
	Dim    string       `json:"dim"`
}

// contributing is the maximum number of contributors shown.
const contributing = 5

func ofAnomaly(e *event.Event) MessageContent {
	d := read[anomaly](e)
	c := MessageContent{Title: "Cost anomaly: " + severityOf(e.Key), Tone: Warning}
	if severityOf(e.Key) != "warning" {
		c.Tone = Bad
	}
	above := ""
	if d.Percent != "" {
		above = clean(d.Percent, longestName) + " %"
	}
	c.Summary = fmt.Sprintf("%s cost %s on %s", capital(scope(e)), usd(d.CostUSD), name(d.Date))
	if above != "" {
		c.Summary += fmt.Sprintf(", %s above the %s that was to be expected", above, usd(d.BaselineUSD))
	}
	c.Summary += "."
	c.Facts = facts(
		Fact{"For", scope(e)}, Fact{"Day", name(d.Date)}, Fact{"Cost", usd(d.CostUSD)},
		Fact{"Baseline", usd(d.BaselineUSD)}, Fact{"Above", above},
	)
	all := []amount{{"Baseline", d.BaselineUSD, false}, {"Cost", d.CostUSD, true}}
	dim := ""
	for _, p := range d.Contributors {
		if dim == "" {
			dim = p.Dim
		}
		if p.Dim == dim && p.Excess.Sign() > 0 && len(all) < contributing+2 {
			all = append(all,
				amount{
					"+ " + firstOf(map[bool]string{true: "all others"}[p.Others], p.Key, "not assigned"),
					p.Excess.Fixed(2), false,
				})
		}
	}
	c.Bars = bars(all...)
	return c
}

// severityOf returns the last part of an anomaly event's key.
func severityOf(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }

// scopes are the display names of scope types.
var scopes = map[string]string{
	event.ScopeOrg: "the organization", event.ScopeAccount: "cloud account", event.ScopeGroup: "resource group",
	event.ScopeResource: "resource", event.ScopeTeam: "team",
	"tag": "tag",
}

func scope(e *event.Event) string {
	return strings.Join(nonEmpty(scopes[e.ScopeType], name(e.ScopeID)), " ")
}

// capital capitalizes the first letter of a sentence.
func capital(s string) string {
	if s == "" {
		return "It"
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// amount is a bar without its length.
type amount struct {
	label, usd string
	strong     bool
}

// bars returns a bar per amount, scaled so that the largest amount has full length. Invalid amounts have no bar.
func bars(all ...amount) []Bar {
	values := make([]money.Amount, len(all))
	var longest money.Amount
	for i, a := range all {
		if v, err := money.Parse(a.usd); err == nil && v.Sign() > 0 {
			values[i] = v
		}
		if values[i].Cmp(longest) > 0 {
			longest = values[i]
		}
	}
	if longest.Sign() == 0 {
		return nil
	}
	var out []Bar
	for i, a := range all {
		out = append(out, Bar{name(a.label), usd(a.usd), hundredths(values[i], longest), a.strong})
	}
	return slices.DeleteFunc(out, func(b Bar) bool { return b.Value == "" })
}

// hundredths returns v as a share of longest in hundredths, rounded up, so that any v above 0 gives at least 1.
func hundredths(v, longest money.Amount) int {
	for n := range 100 {
		if v.MulInt(100).Cmp(longest.MulInt(int64(n))) <= 0 {
			return n
		}
	}
	return 100
}

// usd formats an amount with its currency: "1234.50" becomes "1,234.50 USD". It returns "" for an invalid amount.
func usd(s string) string {
	v, err := money.Parse(s)
	if err != nil {
		return ""
	}
	return strings.Replace(chart.Dollars(v.Fixed(2)), "$", "", 1) + " USD"
}

// period formats a range of days as first and last day.
func period(from, to time.Time) string {
	if from.IsZero() || to.IsZero() {
		return ""
	}
	return from.UTC().Format(time.DateOnly) + " to " + to.UTC().AddDate(0, 0, -1).Format(time.DateOnly)
}

// instant formats a time as in messages. It returns other texts unchanged, except for cleaning.
func instant(s string) string {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return timeOf(at)
	}
	return name(s)
}
