// Package rule holds the table of built-in recommendation rules and everything about a rule that needs no resource:
// its condition as text, parameters, savings and remediation in machine form, severity, and overrides. It contains no
// CEL, so that API functions can list and check rules; package condition evaluates them.
package rule

import (
	"strings"
)

// Rule is one recommendation rule. It is a row of data: a condition over the facts (res), metrics (m) and parameters
// (p) of a resource, the savings and the remediation.
type Rule struct {
	ID          string // permanent; a rule with another meaning gets a new ID
	Provider    string // aws, azure, gcp or kubernetes
	Type        string // the type of resource, or "aws-*" for every type of a provider
	Title       string
	Condition   string // CEL; true where the recommendation holds
	Source      string // where the idea or the threshold comes from
	Remediation string // the change in words, with the provider's call
	Category    Category
	Severity    Severity // of a row that saves $100 a month or more, or that saves nothing; see SeverityAt
	Effort      Level    // of the change, for the people who make it
	Risk        Level    // of the change
	Params      []Param  // in the order of their names
	Version     int      // rises by one when condition, parameters, savings or remediation change
	Verb        Verb     // carries the remediation out
	Target      Target   // what the verb changes
	Savings     Savings  // the part of the bill that falls
	Confirm     []string // metrics that must agree in 5-minute points before a row opens; none: hours are enough
	Autonomous  bool     // may run without approval where the organization allows it
}

// Category groups rules by the kind of their benefit.
type Category string

// The categories. A row of the first five saves money.
const (
	Idle        Category = "idle"
	Orphan      Category = "orphan"
	Rightsizing Category = "rightsizing"
	Schedule    Category = "schedule"
	Discount    Category = "discount"
	Governance  Category = "governance"
	Compliance  Category = "compliance"
	Security    Category = "security"
	Reliability Category = "reliability"
)

var categories = []Category{
	Idle, Orphan, Rightsizing, Schedule, Discount, Governance, Compliance, Security, Reliability,
}

// IsCost reports whether rows of the category exist to save money.
func (c Category) IsCost() bool {
	return c == Idle || c == Orphan || c == Rightsizing || c == Schedule || c == Discount
}

// Level is a rough size: low, medium or high.
type Level string

// The levels of effort and risk.
const (
	Low    Level = "low"
	Medium Level = "medium"
	High   Level = "high"
)

var levels = []Level{Low, Medium, High}

// CustomPrefix begins the ID of each rule that an organization wrote itself. No built-in rule has it.
const CustomPrefix = "custom-"

// anyType ends the type of rules that hold for every type of a provider.
const anyType = "-*"

// AppliesTo reports whether the rule is about resources of a type.
func (r *Rule) AppliesTo(kind string) bool {
	provider, every := strings.CutSuffix(r.Type, anyType)
	return r.Type == kind || every && strings.HasPrefix(kind, provider+"-")
}

// Param returns the parameter of a name, and whether the rule has it.
func (r *Rule) Param(name string) (Param, bool) {
	for _, p := range r.Params {
		if p.Name == name {
			return p, true
		}
	}
	return Param{}, false
}
