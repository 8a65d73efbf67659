package cloud

import (
	"context"
	"encoding/json"
)

// Autoscaling is how a group of machines or pods is scaled by its provider: between which sizes, and by what.
type Autoscaling struct {
	Min     int64 `json:"min"`
	Max     int64 `json:"max"`
	Desired int64 `json:"desired"` // what it has been told to have; Azure's and Kubernetes' is the present size
	// TargetCPUPercent is the average CPU that it is kept at, and CooldownSeconds how long it waits between changes; nil: it has none.
	TargetCPUPercent *int64 `json:"targetCPUPercent,omitempty"`
	CooldownSeconds  *int64 `json:"cooldownSeconds,omitempty"`
	// Native is what is needed besides to set it back exactly as it is now, in the provider's terms.
	Native json.RawMessage `json:"native,omitempty"`
}

// Autoscaler is a Conn of a provider with kinds that it scales by itself: aws-asg, aws-ecs, azure-vmss, gcp-mig and kubernetes-deployment.
type Autoscaler interface {
	// ReadAutoscaling tells how the resource is scaled now. One that is not there is class NotFound, a kind that is not scaled Unsupported.
	ReadAutoscaling(ctx context.Context, kind, region, uid string) (Autoscaling, error)
	// SetAutoscaling makes it so, in one call where the provider has one, and does nothing where it is so already. With Native it restores
	// what ReadAutoscaling told; without, it makes a rule for the CPU where there is none and leaves the customer's other rules alone. Sizes
	// that contradict each other are class Invalid.
	SetAutoscaling(ctx context.Context, kind, region, uid string, want Autoscaling) error
}
