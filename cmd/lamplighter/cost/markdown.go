package cost

import (
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/engine/table"
)

// Table returns a Markdown table of bills with the same lines, side by side.
func Table(bills []Bill) string {
	var b strings.Builder
	row := func(name string, cells func(Bill) string) {
		fmt.Fprintf(&b, "| %s |", name)
		for _, bill := range bills {
			fmt.Fprintf(&b, " %s |", cells(bill))
		}
		b.WriteByte('\n')
	}
	row("US dollars a month", func(bill Bill) string { return bill.Workload.Title })
	b.WriteString("|---|" + strings.Repeat("---:|", len(bills)) + "\n")
	for i, l := range bills[0].Lines {
		if !l.Apart {
			row(l.Name, func(bill Bill) string { return dollars(bill.Lines[i].USD) })
		}
	}
	row("**sum, month 1**", func(bill Bill) string { list, _ := bill.Total(); return "**" + dollars(list) + "**" })
	row("**after AWS's permanent free allowance**", func(bill Bill) string {
		_, paid := bill.Total()
		return "**" + dollars(paid) + "**"
	})
	row("wanted, at most", func(bill Bill) string { return strconv.Itoa(bill.Workload.Bar) })
	for i, l := range bills[0].Lines {
		if l.Apart {
			row("not in the sum: "+l.Name, func(bill Bill) string { return dollars(bill.Lines[i].USD) })
		}
	}
	return b.String()
}

// Amounts returns a Markdown table of the amounts in the bills.
func Amounts(bills []Bill) string {
	var b strings.Builder
	b.WriteString("| | unit |" + strings.Repeat(" |", len(bills)) + "\n|---|---|" + strings.Repeat("---:|",
		len(bills)) + "\n")
	for i, l := range bills[0].Lines {
		fmt.Fprintf(&b, "| %s | %s |", l.Name, l.Unit)
		for _, bill := range bills {
			fmt.Fprintf(&b, " %s |", amount(bill.Lines[i].Amount))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Samples returns a Markdown table of the usage of each kind of work in an organization.
func Samples(m Measured) string {
	var b strings.Builder
	b.WriteString("| | calls | trips | read units | write units | states | key calls | cloud calls " +
		"| puts |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|\n")
	row := func(name string, s Sample) {
		var u table.Usage
		for _, of := range s.Units {
			u = table.Usage{
				RoundTrips: u.RoundTrips + of.RoundTrips, ReadUnits: u.ReadUnits + of.ReadUnits,
				WriteUnits: u.WriteUnits + of.WriteUnits,
			}
		}
		fmt.Fprintf(&b, "| %s | %d | %d | %v | %v | %d | %d | %d | %d |\n", name, total(s.Calls), u.RoundTrips,
			u.ReadUnits,
			u.WriteUnits,
			total(s.Transitions), s.KeyCalls, s.CloudCalls, s.Puts)
	}
	row("first discovery of an account", m.First)
	row("pass over it without changes", m.Pass)
	row("pass that collects metrics, once a day", m.Collection)
	row(fmt.Sprintf("%d stops and starts of a group", m.Pairs), m.Bulks)
	for _, r := range requests {
		if s, ok := m.Requests[r.Method+" "+r.Path]; ok {
			row("`"+r.Method+" "+r.Path+"`", s)
		}
	}
	row(fmt.Sprintf("%d of `POST /auth/refresh` in turn", m.RefreshCount), m.Refreshes)
	row("a mail, with the request for it", m.Mail)
	row(fmt.Sprintf("archiving %d stops and starts of a group", m.ArchivedPairs), m.Archived)
	for _, worker := range slices.Sorted(maps.Keys(runs)) {
		row("run of `"+worker+"` without organizations", m.Bare[worker])
		if eachMinute(worker) {
			row("the same with an organization, without work", m.Found[worker])
		}
	}
	row(fmt.Sprintf("bills of %d accounts in %d days", m.Costs.Accounts, m.Costs.Days), m.Costs.Bills)
	if m.Costs.Renewals > 0 {
		row(fmt.Sprintf("updates of the costs of all resources after %d imports", m.Costs.Renewals), m.Costs.Renewed)
	}
	row(fmt.Sprintf("lists of prices of all organizations in %d days", m.Costs.Days), m.Costs.Shared)
	row(fmt.Sprintf("prices, estimates, anomalies and budgets in %d days", m.Costs.Days), m.Costs.Rest)
	return b.String()
}

func total(of map[string]int) (n int) {
	for _, m := range of {
		n += m
	}
	return n
}

// Listed returns a Markdown table of the prices.
func Listed(p Prices) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Of %s, in US dollars, compared on %s.\n\n| | price | for | free each month | source "+
		"|\n|---|---:|---:|---:|---|\n", p.Region, p.Date)
	for _, name := range slices.Sorted(maps.Keys(p.Of)) {
		price := p.Of[name]
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %s |\n", price.Unit, price.USD, price.Per, price.Free, price.Source)
	}
	return b.String()
}

// dollars formats a sum, rounded to the nearest cent.
func dollars(r *big.Rat) string { return r.FloatString(2) }

// amount formats a number; large ones in thousands or millions.
func amount(r *big.Rat) string {
	for _, m := range []struct {
		of   int64
		name string
	}{{1_000_000, " M"}, {1_000, " k"}} {
		if r.Cmp(new(big.Rat).SetInt64(m.of)) >= 0 {
			return new(big.Rat).Quo(r, new(big.Rat).SetInt64(m.of)).FloatString(1) + m.name
		}
	}
	return strings.TrimSuffix(strings.TrimRight(r.FloatString(2), "0"), ".")
}
