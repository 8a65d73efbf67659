// Package autoscaling is what is known of autoscaler policies: which group of machines or pods each is for, what it was set to when it was
// adopted, and what it is to be set to.
package readiness

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// PolicyPartition is of the autoscaler policies of an organization.
const PolicyPartition table.Partition = "ORG#*#AUTOSCALER"

// PolicyTarget is what a policy scales.
type PolicyTarget struct {
	// aws-asg, aws-ecs, gcp-mig, azure-vmss, kubernetes-deployment, or the simulated cloud's
	Type   string `json:"type"`
	UID    string `json:"uid"`    // native id
	Region string `json:"region"` //
}

// Mode is what a policy may do by itself.
type Mode string

// The modes, the least first.
const (
	Monitor   Mode = "monitor"
	Recommend Mode = "recommend"
	Autopilot Mode = "autopilot"
)

// The statuses of a policy. One that a plan holds is told as Held whatever is stored.
const (
	PolicyActive = "active" // it may be applied; autopilot: it was, when it was last written, resumed or applied
	PolicyPaused = "paused" // the cloud is left as it is, and nothing is applied
	PolicyFailed = "error"  // the last apply did not succeed; Note says why
	PolicyHeld   = "held"   // an event readiness plan has its capacity
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
	// as it was when the policy was adopted, given back on its deletion
	Found cloud.Autoscaling `json:"found"`
	// the event readiness plan that holds its capacity now; nothing else sets it meanwhile
	PlanID string `json:"planID,omitempty"`
	// Applied is how the target was when it was last applied, which tells what somebody else has changed since; nil before that.
	Applied   *cloud.Autoscaling `json:"applied,omitempty"`
	AppliedAt time.Time          `json:"appliedAt,omitzero"`
	// Asked is what the cloud was last asked for by a call that has not said how it ended; nil when each call has.
	Asked *cloud.Autoscaling `json:"asked,omitempty"`
	Note  string             `json:"note,omitempty"` // why Status is Failed

	ClaimedUntil int64     `json:"claimedUntil,omitempty"` // Unix seconds until which an apply may be under way
	Version      int64     `json:"version"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// PolicyKey returns where a policy is stored.
func PolicyKey(org, policyID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "AUTOSCALER", SK: policyID}
}

// ToldStatus returns the status that is told of a policy.
func (p *Policy) ToldStatus() string {
	if p.PlanID != "" {
		return PolicyHeld
	}
	return p.Status
}

// MayHaveSet reports whether an apply of the policy has set its target or, when the end of the apply is unknown, may
// have set it. Such a policy is deleted only together with a restore of its target.
func (p *Policy) MayHaveSet() bool { return p.Applied != nil || p.Asked != nil }

// Wanted returns how the target is to be scaled.
func (p *Policy) Wanted() cloud.Autoscaling {
	percent, cooldown := p.TargetCPUPercent, p.CooldownSeconds
	return cloud.Autoscaling{Min: p.Min, Max: p.Max, Desired: p.Desired, TargetCPUPercent: &percent,
		CooldownSeconds: &cooldown}
}

// The rows beside the policies: one for each name and one for each target that is taken, and the log of each policy.
func policyNames(org string) table.UniqueNames {
	return table.UniqueNames{PK: PolicyKey(org, "").PK, Prefix: "N#", Noun: "autoscaler policy"}
}

func targetKey(org string, t PolicyTarget) table.Key {
	sum := sha256.Sum256([]byte(t.Type + "\x00" + t.UID)) // ids of Azure may be longer than a sort key
	return PolicyKey(org, "T#"+hex.EncodeToString(sum[:]))
}
