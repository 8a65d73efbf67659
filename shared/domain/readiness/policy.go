package readiness

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// PolicyPartition holds the autoscaler policies of an organization.
const PolicyPartition table.Partition = "ORG#*#AUTOSCALER"

// PolicyTarget is the group of machines or pods that a policy scales.
type PolicyTarget struct {
	// aws-asg, aws-ecs, gcp-mig, azure-vmss, kubernetes-deployment, or the type of the simulated cloud
	Type   string `json:"type"`
	UID    string `json:"uid"`    // native ID
	Region string `json:"region"` //
}

// Mode is the automation level of a policy.
type Mode string

// The modes, in increasing order of automation.
const (
	Monitor   Mode = "monitor"
	Recommend Mode = "recommend"
	Autopilot Mode = "autopilot"
)

// The stored statuses of a policy, and PolicyHeld, which ToldStatus returns while a plan holds the policy.
const (
	PolicyActive = "active" // it may be applied; in mode autopilot it was, when last written, resumed or applied
	PolicyPaused = "paused" // nothing is applied, and the cloud is left unchanged
	PolicyFailed = "error"  // the last apply failed; Note is the reason
	PolicyHeld   = "held"   // an event readiness plan holds its capacity
)

// Policy is an autoscaler policy.
type Policy struct {
	ID               string       `json:"id"` // asp_…
	Name             string       `json:"name"`
	Mode             Mode         `json:"mode"`
	CloudAccountID   string       `json:"cloudAccountID"`
	Target           PolicyTarget `json:"target"`
	Min              int64        `json:"min"`
	Max              int64        `json:"max"`
	Desired          int64        `json:"desired"`
	TargetCPUPercent int64        `json:"targetCPUPercent"`
	CooldownSeconds  int64        `json:"cooldownSeconds"`
	Status           string       `json:"status"`
	// the target's scaling at adoption, restored when the policy is deleted
	Found cloud.Autoscaling `json:"found"`
	// the event readiness plan that holds its capacity now; only the plan may set the capacity
	PlanID string `json:"planID,omitempty"`
	// Applied is the target's scaling after the last apply, to detect changes by others; nil before the first apply.
	Applied   *cloud.Autoscaling `json:"applied,omitempty"`
	AppliedAt time.Time          `json:"appliedAt,omitzero"`
	// Asked is the scaling requested by a call with an unknown result; nil when the results of all calls are known.
	Asked *cloud.Autoscaling `json:"asked,omitempty"`
	Note  string             `json:"note,omitempty"` // the reason for PolicyFailed

	ClaimedUntil int64     `json:"claimedUntil,omitempty"` // Unix seconds; until then an apply may be under way
	Version      int64     `json:"version"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// PolicyKey returns the key of a policy.
func PolicyKey(org, policyID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "AUTOSCALER", SK: policyID}
}

// ToldStatus returns the status of a policy for users.
func (p *Policy) ToldStatus() string {
	if p.PlanID != "" {
		return PolicyHeld
	}
	return p.Status
}

// MayHaveSet reports whether an apply of the policy has set its target, or may have set it when the result of the
// apply is unknown. Such a policy is deleted only together with a restore of its target.
func (p *Policy) MayHaveSet() bool { return p.Applied != nil || p.Asked != nil }

// Wanted returns the scaling that the policy wants for its target.
func (p *Policy) Wanted() cloud.Autoscaling {
	percent, cooldown := p.TargetCPUPercent, p.CooldownSeconds
	return cloud.Autoscaling{
		Min: p.Min, Max: p.Max, Desired: p.Desired, TargetCPUPercent: &percent,
		CooldownSeconds: &cooldown,
	}
}

// The partition of policies also has one row for each name and target in use, and the log of each policy.
func policyNames(org string) table.UniqueNames {
	return table.UniqueNames{PK: PolicyKey(org, "").PK, Prefix: "N#", Noun: "autoscaler policy"}
}

func targetKey(org string, t PolicyTarget) table.Key {
	sum := sha256.Sum256([]byte(t.Type + "\x00" + t.UID)) // IDs of Azure may be longer than a sort key
	return PolicyKey(org, "T#"+hex.EncodeToString(sum[:]))
}
