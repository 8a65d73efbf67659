// Package autoscaling is what is known of autoscaler policies: which group of machines or pods each is for, what it was set to when it was
// adopted, and what it is to be set to.
package autoscaling

import (
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/engine/table"
)

// Partition is of the autoscaler policies of an organization.
const Partition table.Partition = "ORG#*#AUTOSCALER"

// Target is what a policy scales.
type Target struct {
	Type   string `json:"type"`   // aws-asg, aws-ecs, gcp-mig, azure-vmss, kubernetes-deployment, or the simulated cloud's
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

// Policy is an autoscaler policy.
type Policy struct {
	ID               string            `json:"id"` // asp_…
	Name             string            `json:"name"`
	Mode             Mode              `json:"mode"`
	CloudAccountID   string            `json:"cloudAccountID"`
	Target           Target            `json:"target"`
	Min              int64             `json:"min"`
	Max              int64             `json:"max"`
	Desired          int64             `json:"desired"`
	TargetCPUPercent int64             `json:"targetCPUPercent"`
	CooldownSeconds  int64             `json:"cooldownSeconds"`
	Status           string            `json:"status"`
	Found            cloud.Autoscaling `json:"found"`            // as it was when the policy was adopted, given back on its deletion
	PlanID           string            `json:"planID,omitempty"` // the event readiness plan that holds its capacity now; nothing else sets it meanwhile
	Version          int64             `json:"version"`
	CreatedAt        time.Time         `json:"createdAt"`
	UpdatedAt        time.Time         `json:"updatedAt"`
}

// Key returns where a policy is stored.
func Key(org, policyID string) table.Key {
	return table.Key{PK: table.OrgPK(org) + "AUTOSCALER", SK: policyID}
}
