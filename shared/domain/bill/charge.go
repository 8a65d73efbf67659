// Package bill defines the charge: one line of a bill in the columns of FOCUS 1.2 (focus.finops.org). The files of all
// vendors are converted into charges first. The package links nothing but exact amounts, so that API functions can
// import it; package billfile reads and writes the files.
package bill

import (
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// The categories of charges (FOCUS 1.2, ChargeCategory).
const (
	Usage      = "Usage"
	Purchase   = "Purchase"
	Tax        = "Tax"
	Credit     = "Credit"
	Adjustment = "Adjustment"
)

// The categories of prices (FOCUS 1.2, PricingCategory).
const (
	Standard  = "Standard"
	Committed = "Committed"
	Dynamic   = "Dynamic"
	Other     = "Other"
)

// Correction is the ChargeClass of a charge that corrects a period that was invoiced earlier; other charges have none.
const Correction = "Correction"

// Charge is a line of a bill. A column that the vendor does not state is empty. Costs are in BillingCurrency, before
// any conversion; amounts of different currencies are never added.
type Charge struct {
	BillingAccountID string
	SubAccountID     string // account, subscription or project
	SubAccountName   string
	// as on the bill: "AWS", "Amazon Web Services", "Microsoft", "Google Cloud", "Oracle"
	ProviderName       string
	PublisherName      string
	InvoiceIssuerName  string
	InvoiceID          string // empty while the period is open
	BillingPeriodStart time.Time
	ChargePeriodStart  time.Time // of the day or hour of use, UTC
	ChargePeriodEnd    time.Time // exclusive

	ChargeCategory   string
	ChargeClass      string
	ChargeFrequency  string
	ChargeText       string // ChargeDescription
	ServiceCategory  string
	ServiceName      string
	RegionID         string
	ResourceID       string
	ResourceName     string
	ResourceType     string // in the vendor's words
	SkuID            string
	PricingCategory  string
	CommitmentID     string // CommitmentDiscountId
	CommitmentStatus string // Used or Unused
	BillingCurrency  string // ISO 4217
	// the value of one unit of BillingCurrency in US dollars, as the bill states it; 0 when the bill does not state it
	USDRate money.Amount

	BilledCost     money.Amount // the invoiced cost
	EffectiveCost  money.Amount // with commitments spread over the use that they cover
	ListCost       money.Amount // at public prices
	ContractedCost money.Amount // at negotiated prices, before commitments
	Quantity       money.Amount // PricingQuantity
	Unit           string       // PricingUnit
	Tags           []Tag        // by key, each key once
}

// Tag is a label of a charge. A key may name its origin: "user:team".
type Tag struct{ Key, Value string }
