package recommendation

import (
	"strings"
	"time"

	"lamplighter.dev/shared/domain/commitment"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// Outcome is the result of a condition for a resource.
type Outcome uint8

// The outcomes. Unknown neither opens nor closes a row. Gone means that the resource is no longer in the cloud. Off
// means that the organization does not want the rule for the resource: it was disabled, deleted, or excludes the
// resource.
const (
	Unknown Outcome = iota
	False
	True
	Gone
	Off
	Booked
)

// Finding is what an evaluation says of one rule and one resource.
type Finding struct {
	RuleID      string
	RuleVersion int
	Resource    Resource
	Outcome     Outcome

	// Metrics says that the condition reads metrics: its row opens when the condition is true on a second day.
	Metrics bool
	// TrueBefore says, beside Metrics, that the condition is also true with the metrics up to the day before: the row
	// opens at once.
	TrueBefore bool
	// Followed says, beside False, that the facts have changed to what was recommended: the row is applied.
	Followed bool
	// Missing are the facts that made the condition unknown.
	Missing []Missing

	Category string
	Severity Severity // by the amount (rule.SeverityAt); Settle lowers it to info if people call the rule wrong
	Effort   string
	Risk     string
	Title    string
	Reason   string
	Savings  Savings
	Evidence Evidence
	// Code is the code that the resource is made from, nil if it is made from none.
	Code *Code
	// Commitment is what to commit to, by scope, if the rule recommends to buy a commitment.
	Commitment []commitment.Advice
}

// Resource identifies the resource of a finding.
type Resource struct {
	ResourceID     string `json:"resourceID"`  // res_…; of an account as a subject: ca_…
	ResourceUID    string `json:"resourceUid"` // native id
	ResourceName   string `json:"resourceName"`
	ResourceType   string `json:"resourceType"` // with the prefix of the provider: aws-ec2
	Provider       string `json:"provider"`
	CloudAccountID string `json:"cloudAccountID"` // ca_…
	Region         string `json:"region,omitempty"`
	// ResourceVersion differs after a change of the resource's content, for example inventory.Resource.FactsSum. A
	// dismissal without an end holds until it differs.
	ResourceVersion int64 `json:"resourceVersion,omitempty"`
}

// Code is the code that a resource is made from, as its tags say.
type Code struct {
	Tool string `json:"tool"`           // cloudformation, terraform, helm, gitops, or the name in the resource's mark
	Name string `json:"name,omitempty"` // of the stack, workspace, release or application
	Part string `json:"part,omitempty"` // of the resource in it
}

// Missing is a fact that an evaluation needed and did not have.
type Missing struct {
	Fact       string `json:"fact"`                 // "res.env", "m.cpu_max_14d", "cost_30d"
	Permission string `json:"permission,omitempty"` // the permission that would give it, if that is the reason
	Reason     string `json:"reason"`               // not_collected, denied, stale, few_points, unpriced …
}

// Evidence is what a condition was decided on. With the stored version of the rule, it decides the condition again.
type Evidence struct {
	Values       map[string]any `json:"values"`              // facts and statistics by their names in the condition
	Thresholds   map[string]any `json:"thresholds"`          // parameters
	Window       string         `json:"window"`              // of the metrics: "14d"; empty without metrics
	Points       int            `json:"points"`              // the smallest number of points of a metric
	Confirmed    string         `json:"confirmed,omitempty"` // last day of the 5-minute points that confirm the metrics
	Rule         string         `json:"rule"`
	RuleVersion  int            `json:"ruleVersion"`
	PriceVersion string         `json:"priceVersion"`
	At           time.Time      `json:"at"`
}

// Savings is the expected saving of a recommendation, in USD a month.
type Savings struct {
	Gross money.Amount `json:"gross"` // before commitments and other recommendations
	Net   money.Amount `json:"net"`   // after commitments; what Claims add up to
	// Basis says where the amount is from: Billed or Estimated.
	Basis string `json:"basis,omitempty"`
	// Form is the machine form of the rule: all, compute, part:…, to:…, hours, rate, fact:…, bound:…, none. A bound
	// is shown and counts 0.
	Form     string   `json:"form,omitempty"`
	Strength Strength `json:"strength,omitempty"`
	// Claims say at which resources the charges arise. Without any, all of Net arises at the finding's own resource,
	// which costs Cost a month.
	Claims []Claim      `json:"claims,omitempty"`
	Cost   money.Amount `json:"cost"`
	// Copy is, of a deletion that keeps a snapshot for 30 days, the cost of the snapshot. Gross, Net and Claims are
	// without it.
	Copy *CopyCost `json:"copy,omitempty"`
	// Unknown is why nobody knows the saving, "" if it is known. Amounts are 0 then.
	Unknown string `json:"unknown,omitempty"`
	// Later says that the saving is computed when all resources are evaluated. Until then a row keeps the one it has.
	Later bool `json:"later,omitempty"`
	// Given is, of a saving that is computed later, the severity of the rule before the amount lowers it.
	Given Severity `json:"given,omitempty"`
}

// CopyCost is the cost of a snapshot for the 30 days that it is kept.
type CopyCost struct {
	USD     money.Amount `json:"usd"`
	Unknown string       `json:"unknown,omitempty"` // why it is unknown, and not subtracted; "" if it is known
}

// The bases of an amount.
const (
	Billed    = "billed"    // settled days of the bill
	Estimated = "estimated" // prices, since there is no bill
)

// Claim is the part of a saving that arises at one resource, and the cost of that resource, in USD a month.
type Claim struct {
	ResourceID string       `json:"resourceID"` // res_…, ca_…
	USD        money.Amount `json:"usd"`
	Cost       money.Amount `json:"cost"`
}

// MaxClaims is how many claims a finding may have.
const MaxClaims = 100

// Strength orders recommendations for one resource. A weaker one is an alternative of a stronger one.
type Strength uint8

// The strengths, from the weakest. Recommendations without a saving have none.
const (
	NoStrength     Strength = iota
	ByDiscount              // commitments, spot, licence benefit
	ByTier                  // generation, architecture, licence, tier
	BySize                  // a smaller size, fewer IOPS, smaller requests
	BySchedule              // stopped in some hours
	ByStop                  // idle: stopped
	ByDelete                // orphan, or idle: deleted
	strengthsCount          // their number
)

// Pass is one evaluation. A pass that is repeated after it was killed has the same ID and time.
type Pass struct {
	ID string
	At time.Time
}

// check returns an error if the finding cannot be stored. Such a finding is a defect of the caller.
func (f *Finding) check() error {
	_, ok := parseULID(f.Resource.ResourceID)
	switch {
	case f.RuleID == "" || f.Resource.ResourceUID == "" || !ok:
		return fault.New(fault.Internal,
			"finding of rule %q for %q (%q): rule, native id and id of a resource are needed",
			f.RuleID, f.Resource.ResourceUID, f.Resource.ResourceID)
	case f.Outcome == True && f.Severity.Rank() < 0:
		return fault.New(fault.Internal, "finding of rule %q: severity %q is not one of %v", f.RuleID, f.Severity,
			Severities)
	case len(f.Savings.Claims) > MaxClaims:
		return fault.New(fault.Internal, "finding of rule %q for %q: %d claims; at most %d", f.RuleID,
			f.Resource.ResourceUID, len(f.Savings.Claims), MaxClaims)
	case f.Savings.Strength >= strengthsCount || f.Savings.Net.Sign() < 0 || f.Savings.Gross.Sign() < 0:
		return fault.New(fault.Internal, "finding of rule %q for %q: a saving is 0 or more, with a declared strength",
			f.RuleID, f.Resource.ResourceUID)
	}
	return nil
}

// isBound reports whether the saving is a bound, which is shown and counts 0.
func (s *Savings) isBound() bool { return strings.HasPrefix(s.Form, "bound") }
