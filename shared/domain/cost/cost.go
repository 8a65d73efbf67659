// Package cost stores the billed costs of an organization by day, and answers all questions about them. An import
// replaces a billing period of an account as a whole, by moving a pointer. For each dimension, the parts of an answer
// add up exactly to its total.
package cost

import (
	"context"
	"time"

	"lamplighter.dev/shared/domain/bill"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Metric selects one of the costs of a charge: the query parameter cost=.
type Metric string

// The metrics.
const (
	Billed    Metric = "billed"    // the invoiced cost
	Effective Metric = "effective" // with commitments spread over the use that they cover
	List      Metric = "list"      // at public prices
)

// Metrics are all metrics.
var Metrics = []Metric{Billed, Effective, List}

// The dimensions for splits and filters of costs. TagDim followed by a key is the dimension of that tag. A missing
// value is "".
const (
	ProviderDim = "provider"
	// ca_…: the account itself if it is connected, else the account whose bill contains it.
	AccountDim    = "cloud_account_id"
	SubAccountDim = "sub_account_id" // account, subscription or project, in the spelling of the bill
	RegionDim     = "region"
	TypeDim       = "resource_type" // our type if the resource is known, else the vendor's
	ServiceDim    = "service_name"
	PurchaseDim   = "purchase_type" // OnDemand, …
	TeamDim       = "team_id"       // a cost that several teams own is split evenly among them
	// a cost in several groups is split evenly among them, but a filter for a group takes the whole cost.
	GroupDim    = "group_id"
	ResourceDim = "resource_uid" // the native ID in the inventory, else the name on the bill
	CategoryDim = "charge_category"
	ClassDim    = "charge_class" // Correction, Late, or "" for other charges and for all of an earlier version
	CurrencyDim = "currency"     // before conversion
	TagDim      = "tag:"
	TagKeysDim  = "tag_keys" // the tag keys of a charge, one on each line, sorted: for tag coverage
)

// The purchase types.
const (
	OnDemand       = "on_demand"
	Committed      = "committed"
	Spot           = "spot"
	OtherPurchases = "other"
)

// The values of ClassDim for charges that do not show how much a day cost.
const (
	// Correction is a refund, or another correction of a month that was invoiced before.
	Correction = bill.Correction
	// Late is usage dated more than a day outside of the month of its bill. It counts on the nearest day of the month.
	Late = "Late"
)

// USD is the currency of answers.
const USD = "USD"

// Import is one billing period of one account, as delivered.
type Import struct {
	Org         string
	AccountID   string
	Native      string // the provider's ID of the account; empty if no other bill can contain its charges
	Provider    string // aws gcp azure kubernetes simulated other
	Month       Month
	Estimated   bool      // an own estimate instead of a bill; it counts only on days after those of the bill
	Fingerprint string    // of the content: importing the same one again changes nothing
	DeliveredAt time.Time // an earlier delivery never replaces a later one
	Final       bool      // the provider has closed the period
	// Rates are USD for each unit of other currencies. RateOf returns the rates that neither Rates nor the bill itself
	// contain. Amounts without a rate are stored and reported, but never converted.
	Rates  map[string]Rate
	RateOf RateOf
	Source string
	Export string
	// Accounts returns the connected accounts at the time of the commit. Charges of a connected account on the bill
	// count for that account.
	Accounts func(context.Context) ([]Account, error)
	// Withdrawable keeps the period that the delivery replaces, so that Withdraw can restore it.
	Withdrawable bool
	// Lines reports whether line items are stored. A delivery that was imported without them is imported again.
	Lines bool
	// Unsummarized leaves the summary of the month to Summarize, for an importer of many accounts' bills. Until then
	// Summaries is slow, but correct.
	Unsummarized bool
}

// Rate is the value of a unit of a currency.
type Rate struct {
	USD    money.Amount `json:"usd"`
	Source string       `json:"source"`
	Date   string       `json:"date"` // 2026-03-31
}

// Totals are the sums of charges in one currency.
type Totals struct {
	Rows      int64        `json:"rows"`
	Billed    money.Amount `json:"billed"`
	Effective money.Amount `json:"effective"`
	List      money.Amount `json:"list"`
}

// Period describes the import of a billing period of an account, with its control totals.
type Period struct {
	AccountID   string    `json:"account"`
	Provider    string    `json:"provider"`
	Month       Month     `json:"month"`
	Estimated   bool      `json:"estimated,omitempty"`
	Generation  string    `json:"gen"`
	Fingerprint string    `json:"fingerprint"`
	DeliveredAt time.Time `json:"deliveredAt"`
	ImportedAt  time.Time `json:"importedAt"`
	Final       bool      `json:"final,omitempty"`
	Source      string    `json:"source,omitempty"`
	Export      string    `json:"export,omitempty"`
	Rows        int64     `json:"rows"`
	Lines       int       `json:"lines"` // the number of lines after adding up
	// rows that were stored without their resource and tags, because there were too many
	Folded int64 `json:"folded,omitempty"`
	// rows of the class Late, and rows of the class Correction
	Late          int64             `json:"late,omitempty"`
	Corrections   int64             `json:"corrections,omitempty"`
	ByCurrency    map[string]Totals `json:"totals"`                 // by currency
	BilledThrough time.Time         `json:"billedThrough,omitzero"` // the last day with usage
	// the last complete day: two days before the delivery, or the last day of a closed period
	SettledThrough time.Time       `json:"settledThrough,omitzero"`
	Rates          map[string]Rate `json:"rates,omitempty"`
	Native         string          `json:"native,omitempty"`
	Gone           bool            `json:"gone,omitempty"` // the account is not connected any more
	// the moment whose teams and groups own the costs; zero if an earlier version made the period
	AttributedAt time.Time `json:"attributedAt,omitzero"`
	// the other connected accounts on the bill, by sub-account
	Members map[string]string `json:"members,omitempty"`
	// Superseded maps the sub-accounts that count on bills of other accounts to these accounts. Whole reports that all
	// sub-accounts do, so no cost of the period counts. Periods sets both.
	Superseded map[string]string `json:"-"`
	Whole      bool              `json:"-"`
}

// Accounts returns the accounts whose costs count in the period: the payer's and those that it pays for, without those
// that count on another bill.
func (p *Period) Accounts() []string {
	if p.Whole {
		return nil
	}
	out := []string{p.AccountID}
	for sub, accountID := range p.Members {
		if p.Superseded[sub] == "" {
			out = append(out, accountID)
		}
	}
	return out
}

// Bills reports whether the period holds the costs of an account: on its own bill, or on the bill of its payer.
func (p *Period) Bills(accountID string) bool {
	if p.AccountID == accountID {
		return true
	}
	for _, member := range p.Members {
		if member == accountID {
			return true
		}
	}
	return false
}

// The reasons why an import is not begun or not committed. Both are fault.Conflict.
var (
	ErrSame  = fault.New(fault.Conflict, "this delivery of the billing period is in already; nothing is to be done")
	ErrOlder = fault.New(fault.Conflict, "a later delivery of the billing period is in already; this one is left out")
)
