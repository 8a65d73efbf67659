// Package focus is a line of a bill in the columns of FOCUS 1.2 (focus.finops.org): the form into which the exports of all vendors are
// brought before anything is done with them.
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

// Correction is the ChargeClass of what corrects a period that was invoiced already; other charges have none.
const Correction = "Correction"

// Charge is a line of a bill. A column that a vendor does not tell is empty. Costs are in BillingCurrency, before any conversion; amounts
// of different currencies are never added.
type Charge struct {
	BillingAccountID string
	SubAccountID     string // account, subscription or project
	SubAccountName   string
	// as the bill says it: "AWS", "Amazon Web Services", "Microsoft", "Google Cloud", "Oracle"
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
	// what the bill says that a unit of BillingCurrency is worth in US dollars; nothing when it does not
	USDRate money.Amount

	BilledCost     money.Amount // what is invoiced
	EffectiveCost  money.Amount // with commitments spread over what they cover
	ListCost       money.Amount // at public prices
	ContractedCost money.Amount // at negotiated prices, before commitments
	Quantity       money.Amount // PricingQuantity
	Unit           string       // PricingUnit
	Tags           []Tag        // by key, each key once
}

// Tag is a label of what was charged. A key may name its origin: "user:team".
type Tag struct{ Key, Value string }
