package remediation

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/rule"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/id"
)

// Recommender requests workflows of rules that run without approval, after the daily evaluation. It is their requester
// and the actor of their first events, as Executor is of later ones.
const Recommender = "recommender"

// NewTarget returns the target of a recommendation, with the parameters of a request.
func NewTarget(row *recommendation.Row, parameters map[string]string) Target {
	out := Target{
		RecID: row.ID, RuleID: row.RuleID, RuleVersion: row.RuleVersion, Title: row.Title, Risk: row.Risk,
		SavingUSD: recommendation.Counted(row.Savings.Net), ResourceID: row.ResourceID, ResourceUID: row.ResourceUID,
		ResourceName: row.ResourceName, ResourceType: row.ResourceType, Provider: row.Provider,
		CloudAccountID: row.CloudAccountID, Region: row.Region, Parameters: parameters, State: Waiting,
		NonProduction: row.Evidence.Values["env"] == "nonprod",
	}
	if r := rule.ByID(row.RuleID); r != nil {
		out.Verb = r.Verb
	}
	return out
}

// MayRunAlone reports whether a target may run without approval if the organization lists its rule: the rule is marked
// autonomous, and it was decided on an environment that is not production.
func (t *Target) MayRunAlone() bool {
	of := rule.ByID(t.RuleID)
	return of != nil && of.Autonomous && t.NonProduction
}

// quietTime is how long nothing is requested again for a recommendation whose last workflow did not succeed.
const quietTime = 7 * 24 * time.Hour

// IsSpent reports whether the service does not request a workflow for an open recommendation, because an earlier one of
// its present episode, or of the last 7 days, failed, was rolled back or was cancelled. lines are all workflows of the
// organization.
func IsSpent(lines []Line, row *recommendation.Row, now time.Time) bool {
	for i := range lines {
		l := &lines[i]
		ended := l.Status == Failed || l.Status == RolledBack || l.Status == Cancelled
		if !ended || !slices.Contains(l.RecIDs, row.ID) {
			continue
		}
		if !l.EndedAt.Before(row.OpenedAt) || now.Sub(l.EndedAt) < quietTime {
			return true
		}
	}
	return false
}

// Autonomous is a request of the service: targets of one rule, in a pass of the evaluation.
type Autonomous struct {
	Org     string
	PassID  string
	At      time.Time // of the pass
	RuleID  string
	Targets []Target
	Enabled identity.Enabler // who let the rule run without approval
}

// CreateAutonomous stores a workflow that the service requests, and its row of the audit log, in one transaction. A
// pass has one workflow for each rule, however often it runs. It returns fault.Conflict as CreateAllowed does, and when
// the pass has made it before.
func (s *Store) CreateAutonomous(ctx context.Context, log *audit.Log, a Autonomous) (Workflow, error) {
	why := fmt.Sprintf("rule %s runs without approval: %s", a.RuleID, enabledText(a.Enabled))
	w := Workflow{
		ID: id.Derived("rem", a.At, a.PassID+"\x00"+a.RuleID), Org: a.Org, Targets: a.Targets, Autonomous: true,
		Requester: Person{Email: Recommender, At: s.clock.Now()}, Reason: why,
	}
	row := audit.Row{
		Action: "remediateAutonomously", ResourceType: "remediation-workflows", Target: w.ID,
		Changes: audit.Changes{After: map[string]any{
			"rule": a.RuleID, "recommendationIDs": recIDs(a.Targets), "enabledBy": a.Enabled.Email,
			"enabledAt": a.Enabled.At,
		}},
	}
	recorded := &Store{auditing{s.table, log, a.Org, row}, s.clock}
	return recorded.CreateAllowed(ctx, w)
}

// enabledText says who let a rule run without approval.
func enabledText(by identity.Enabler) string {
	if by.Email == "" {
		return "it is in autonomousRules of the organization"
	}
	return "enabled by " + by.Email + " at " + by.At.UTC().Format(time.RFC3339)
}

func recIDs(targets []Target) string {
	ids := make([]string, len(targets))
	for i := range targets {
		ids[i] = targets[i].RecID
	}
	return strings.Join(ids, " ")
}

// auditing is a store whose transaction has a row of the audit log in it.
type auditing struct {
	table.Store
	log *audit.Log
	org string
	row audit.Row
}

// Transact writes everything, and the row, or nothing.
func (a auditing) Transact(ctx context.Context, ws ...table.Write) error {
	_, err := a.log.Append(ctx, a.org, a.row, ws...)
	return err
}

// Listed returns the rules that an organization lets run without approval at this moment, and who let them. It takes
// one round trip.
func Listed(ctx context.Context, t table.Store, org string) (map[string]identity.Enabler, error) {
	o, err := table.Read[identity.OrganisationRecord](ctx, t, identity.OrganisationKey(org))
	if err != nil && !fault.Is(err, fault.NotFound) {
		return nil, fault.Wrap("read which rules run without approval", err)
	}
	out := map[string]identity.Enabler{}
	for _, ruleID := range o.Preferences().AutonomousRules {
		if r := rule.ByID(ruleID); r != nil && r.Autonomous {
			out[ruleID] = o.AutonomousBy[ruleID]
		}
	}
	return out, nil
}
