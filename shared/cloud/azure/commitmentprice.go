package azure

import (
	"encoding/json"
	"strings"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/money"
)

// machineService is the service whose savings plans and reservations are read.
const machineService = "Virtual Machines"

// planPrice is what an hour costs under a savings plan of a term.
type planPrice struct {
	Price json.Number `json:"retailPrice"`
	Term  string      `json:"term"`
}

// retailTerms are Azure's names of terms, in years.
var retailTerms = map[string]int{"1 Year": 1, "3 Years": 3}

// hoursPerYear is the length of a year of a reservation.
const hoursPerYear = 8760

// machineRates collects what machines cost under savings plans and reservations, by family. Azure asks the same whether
// a commitment is paid at once or by the month.
type machineRates struct {
	cloud.CommitmentRates
	onDemand map[string]money.Amount // of Linux machines, by size
}

// linuxPrice returns the size and the price on demand of a whole Linux machine in the region, or false. Commitments
// leave out the licence of Windows.
func (r *retailPrice) linuxPrice(region string) (size string, usd money.Amount, ok bool) {
	if r.Service != machineService || r.Currency != "USD" || !strings.EqualFold(r.Region, region) ||
		!hourlyUnits[r.Unit] || r.machineKey() != "vm/"+r.ArmSKU+"/linux" {
		return "", usd, false
	}
	usd, err := money.Parse(r.Price.String())
	return r.ArmSKU, usd, err == nil
}

// addPlans takes the prices on demand of a page, and the savings plans beside them.
func (m *machineRates) addPlans(page *retailPage, region string) {
	for i := range page.Items {
		r := &page.Items[i]
		size, onDemand, ok := r.linuxPrice(region)
		if !ok || r.Type != "Consumption" {
			continue
		}
		m.onDemand[size] = onDemand
		for _, plan := range r.Plans {
			m.add("plan", size, plan.Term, plan.Price, 1)
		}
	}
}

// addReservations takes the reservations of a page. Their price is that of the whole term.
func (m *machineRates) addReservations(page *retailPage, region string) {
	for i := range page.Items {
		r := &page.Items[i]
		if size, _, ok := r.linuxPrice(region); ok && r.Type == "Reservation" {
			m.add("reservation", size, r.Term, r.Price, int64(retailTerms[r.Term])*hoursPerYear)
		}
	}
}

// add adds the rate of a size under a commitment whose price is that of some hours.
func (m *machineRates) add(kind, size, term string, price json.Number, hours int64) {
	usd, err := money.Parse(price.String())
	if err != nil || retailTerms[term] == 0 {
		return
	}
	of := cloud.CommitmentRate{
		Kind: kind, Group: "vm", Family: cloud.FamilyOf(size), Years: retailTerms[term], Payment: "none",
	}
	m.Add(of, usd.DivInt(hours), m.onDemand[size])
}
