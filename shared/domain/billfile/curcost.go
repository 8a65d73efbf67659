package billfile

import (
	"strings"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/money"
)

// price sets category and costs of a line by its type, in the terms of FOCUS and with the amortization of AWS's own
// dashboards. It returns false for a line that is dropped: a line that negates the usage under a savings plan, which
// is billed at 0 here in the first place.
//
// An unknown type is an Adjustment at its invoiced cost, so that the bill stays complete when AWS adds a type.
func (l *curLayout) price() bool {
	invoiced := l.invoiced()
	switch l.lineType {
	case "Usage":
		l.charge(bill.Usage, invoiced, invoiced)
		l.out.PricingCategory = l.usagePricing()
	case "DiscountedUsage":
		l.chargeCovered(l.reservationARN, netIf(l.netReservations, l.netReservation, l.reservation))
	case "SavingsPlanCoveredUsage":
		l.chargeCovered(l.planARN, netIf(l.netPlans, l.netPlan, l.plan))
	case "SavingsPlanNegation":
		return false
	case "SavingsPlanRecurringFee":
		l.chargeCommitment(l.planARN, invoiced, l.committed.Sub(l.used))
		l.out.ChargeFrequency = "Recurring"
	case "SavingsPlanUpfrontFee":
		l.chargeCommitment(l.planARN, invoiced, money.Amount{})
		l.out.ChargeFrequency = "One-Time"
	case "RIFee":
		l.chargeCommitment(l.reservationARN, invoiced, l.unused())
		l.out.ChargeFrequency = "Recurring"
	default:
		l.priceOther(invoiced)
	}
	return true
}

func (l *curLayout) priceOther(invoiced money.Amount) {
	switch l.lineType {
	case "Fee":
		l.priceFee(invoiced)
	case "Tax":
		l.charge(bill.Tax, invoiced, invoiced)
	case "Credit":
		l.charge(bill.Credit, invoiced, invoiced)
	case "Refund": // AWS may grant it months after the charge
		l.out.ChargeClass = bill.Correction
		l.priceRefund(invoiced)
	default: // EdpDiscount, PrivateRateDiscount, BundledDiscount, and unknown types
		l.charge(bill.Adjustment, invoiced, invoiced)
	}
}

func (l *curLayout) priceFee(invoiced money.Amount) {
	if l.reservationARN != "" {
		l.chargeCommitment(l.reservationARN, invoiced, money.Amount{})
	} else {
		l.charge(bill.Purchase, invoiced, invoiced)
	}
	l.out.ChargeFrequency = "One-Time"
}

// priceRefund prices a refund like the charge that it takes back: the effective cost of a commitment's fee is 0,
// because its cost is in the use that it covers.
func (l *curLayout) priceRefund(invoiced money.Amount) {
	switch {
	case l.planARN != "":
		l.chargeCommitment(l.planARN, invoiced, money.Amount{})
	case l.reservationARN != "":
		l.chargeCommitment(l.reservationARN, invoiced, money.Amount{})
	default:
		l.charge(bill.Usage, invoiced, invoiced)
	}
}

// invoiced returns the invoiced cost of the line. In a report with net costs, the charges already include their
// discounts, and the lines of discounts are 0.
func (l *curLayout) invoiced() money.Amount {
	if l.net && (l.netFilled || strings.HasSuffix(l.lineType, "Discount")) {
		return l.netUnblended
	}
	return l.unblended
}

func (l *curLayout) unused() money.Amount {
	if l.netUnused {
		return l.netUpfront.Add(l.netRecurring)
	}
	return l.unusedUpfront.Add(l.unusedRecurring)
}

func netIf(has bool, net, gross money.Amount) money.Amount {
	if has {
		return net
	}
	return gross
}

func (l *curLayout) charge(category string, billed, effective money.Amount) {
	l.out.ChargeCategory, l.out.BilledCost, l.out.EffectiveCost = category, billed, effective
	if category == bill.Usage {
		l.out.ChargeFrequency = "Usage-Based"
	}
}

// chargeCovered sets a charge for use under a commitment. Its billed cost is 0, because the commitment is paid
// separately.
func (l *curLayout) chargeCovered(commitment string, effective money.Amount) {
	l.charge(bill.Usage, money.Amount{}, effective)
	l.out.PricingCategory, l.out.CommitmentID, l.out.CommitmentStatus = bill.Committed, commitment, "Used"
}

func (l *curLayout) chargeCommitment(commitment string, billed, effective money.Amount) {
	l.charge(bill.Purchase, billed, effective)
	l.out.PricingCategory, l.out.CommitmentID = bill.Standard, commitment
}

// usagePricing returns the pricing category of usage. Only the usage type identifies spot prices.
func (l *curLayout) usagePricing() string {
	if strings.EqualFold(l.term, "Spot") || strings.Contains(l.usageType, "SpotUsage") {
		return bill.Dynamic
	}
	return bill.Standard
}
