package azure

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"lamplighter.dev/shared/cloud"
)

const (
	scaleSetType    = "Microsoft.Compute/virtualMachineScaleSets"
	scaleSetVersion = "2024-07-01"
)

// scaleSets are virtual machine scale sets. A stop disables the autoscale setting, which would fill the set again, and
// then sets the capacity to 0. A start enables the setting and then sets the capacity. After a crash between the two
// calls, the next act completes the rest.
var scaleSets = kind{
	Kind: catalogueKind(cloud.AzureVMSS), arm: scaleSetType, version: scaleSetVersion, autoscaled: true,
	facts: scaleSetFacts, act: actScaleSet, scale: scaleScaleSet,
	readAutoscaling: readScaleSetAutoscaling, setAutoscaling: setScaleSetAutoscaling,
	needs: needs{
		discover:  []string{scaleSetType + "/read", settingRead},
		startStop: []string{scaleSetType + "/write", settingWrite},
		scale:     []string{scaleSetType + "/write", settingWrite, settingDelete},
	},
}

type scaleSet struct {
	ProvisioningState string    `json:"provisioningState"`
	TimeCreated       time.Time `json:"timeCreated"`
}

// scaleSetMemory is the state that a stop overwrites and a start restores.
type scaleSetMemory struct {
	Capacity  int64 `json:"capacity"`
	Autoscale bool  `json:"autoscale"`      // the setting was enabled
	Made      int64 `json:"made,omitempty"` // when the set was made, in Unix seconds: one made again has its name
}

// madeAt returns the time of the set's creation in Unix seconds; 0 if Azure does not return it.
func (s scaleSet) madeAt() int64 {
	if s.TimeCreated.IsZero() {
		return 0
	}
	return s.TimeCreated.Unix()
}

func scaleSetFacts(r resource, s *setting) (facts, error) {
	p, err := decodeProperties[scaleSet](r)
	if err != nil {
		return facts{}, err
	}
	f := facts{created: p.TimeCreated.UTC(), native: p.ProvisioningState, unschedulable: tiedScaleSet(r)}
	if r.SKU == nil || r.SKU.Capacity == nil {
		f.status = statusOf(provisioningStates, p.ProvisioningState)
		return f, nil
	}
	n := *r.SKU.Capacity
	f.instanceType, f.status = r.SKU.Name, sizedStatus(p.ProvisioningState, n)
	f.native = fmt.Sprintf("%s, capacity %d", p.ProvisioningState, n)
	now := size{desired: n}
	if s.isActive() {
		now.bounds = &s.bounds
	}
	if f.capacity = now.capacityMap(); n > 0 {
		f.snapshot = cloud.EncodeSnapshot(scaleSetMemory{n, s != nil && s.enabled, p.madeAt()})
	}
	return f, nil
}

// provisioningStates are the statuses of resources that report only a provisioning state.
var provisioningStates = map[string]cloud.Status{
	"succeeded": cloud.Running, "creating": cloud.Pending, "updating": cloud.Pending, "deleting": cloud.Terminated,
}

// sizedStatus returns the status of a resource that is off at size 0. After a failed change it is unknown.
func sizedStatus(provisioning string, n int64) cloud.Status {
	switch strings.ToLower(provisioning) {
	case "deleting":
		return cloud.Terminated
	case "failed", "canceled":
		return cloud.Unknown
	case "succeeded":
		if n == 0 {
			return cloud.Stopped
		}
		return cloud.Running
	}
	if n == 0 {
		return cloud.Stopping
	}
	return cloud.Starting
}

// tiedScaleSet returns why a set may not be stopped by itself.
func tiedScaleSet(r resource) string {
	for name, value := range r.Tags {
		if strings.EqualFold(name, "aks-managed-poolName") {
			return "belongs to AKS node pool " + value + ": act on the node pool"
		}
	}
	if r.SKU == nil || r.SKU.Capacity == nil {
		return "has no capacity of its own: act on its virtual machines"
	}
	return ""
}

func actScaleSet(ctx context.Context, c *armClient, v cloud.Verb, t target) error {
	r, err := readScaleSet(ctx, c, t.UID)
	if err != nil {
		return err
	}
	if v == cloud.Stop {
		if err := t.setting.disableSetting(ctx, c); err != nil {
			return err
		}
		return resizeScaleSet(ctx, c, r, 0)
	}
	return startScaleSet(ctx, c, t, r)
}

func startScaleSet(ctx context.Context, c *armClient, t target, r resource) error {
	m, err := rememberedSet(t, r)
	if err != nil {
		return err
	}
	if *r.SKU.Capacity == 0 && m.Capacity == 0 {
		return cloud.ErrUnsupported("%s", cloud.NoSizeRemembered(r.Name))
	}
	if m.Autoscale {
		if err := t.setting.enableSetting(ctx, c); err != nil {
			return err
		}
	}
	if *r.SKU.Capacity > 0 {
		return nil // somebody has started it
	}
	return resizeScaleSet(ctx, c, r, m.Capacity)
}

// rememberedSet returns the state to restore. It reads the marks on the resource if the set was stopped elsewhere, was
// made again, or has no snapshot.
func rememberedSet(t target, r resource) (scaleSetMemory, error) {
	m, ok, err := cloud.DecodeSnapshot[scaleSetMemory](t.Snapshot, "size")
	if err != nil {
		return m, err
	}
	p, err := decodeProperties[scaleSet](r)
	if err == nil && (!ok || m.Made != 0 && m.Made != p.madeAt()) {
		m.Capacity, m.Autoscale = t.setting.minimum(), t.setting != nil && t.setting.paused
	}
	return m, err
}

// minimum returns the minimum of the setting, if it scales or a stop of ours has paused it; else 0.
func (s *setting) minimum() int64 {
	if s == nil || !s.enabled && !s.paused {
		return 0
	}
	return s.bounds.Min
}

func readScaleSet(ctx context.Context, c *armClient, uid string) (resource, error) {
	_, r, err := c.getResource(ctx, uid, scaleSetVersion, nil)
	if err == nil && (r.SKU == nil || r.SKU.Capacity == nil) {
		err = cloud.ErrUnsupported("%s has no capacity of its own: act on its virtual machines", r.Name)
	}
	return r, err
}

func resizeScaleSet(ctx context.Context, c *armClient, r resource, n int64) error {
	body := map[string]any{"sku": sku{Name: r.SKU.Name, Tier: r.SKU.Tier, Capacity: &n}}
	return c.callARM(ctx, call{method: http.MethodPatch, path: uidOf(r.ID), version: scaleSetVersion, body: body}, nil)
}

func scaleScaleSet(ctx context.Context, c *armClient, t target, want cloud.Capacity) error {
	r, err := readScaleSet(ctx, c, t.UID)
	if err != nil {
		return err
	}
	to, err := scaleSetting(ctx, c, t.setting, *r.SKU.Capacity, want)
	if err != nil || want.Desired == nil {
		return err
	}
	return resizeScaleSet(ctx, c, r, to)
}

// scaleSetting puts the bounds into the autoscale setting, if there is one that scales, and returns the size to set.
func scaleSetting(ctx context.Context, c *armClient, s *setting, n int64, want cloud.Capacity) (int64, error) {
	now := size{desired: n}
	if s.isActive() {
		now.bounds = &s.bounds
	}
	to, err := now.withCapacity(want)
	if err != nil || to.bounds == nil {
		return to.desired, err
	}
	return to.desired, s.setBounds(ctx, c, *to.bounds)
}
