package simulated

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// usualCooldown is how long a rule waits that does not say, in seconds.
const usualCooldown = 300

var _ cloud.Autoscaler = (*conn)(nil)

// ReadAutoscaling tells how a group is scaled: nothing scales one by a rule before somebody has set one.
func (c *conn) ReadAutoscaling(ctx context.Context, kind, region, uid string) (cloud.Autoscaling, error) {
	k, r, err := c.findAutoscaled(kind, region, "ReadAutoscaling")
	if err != nil {
		return cloud.Autoscaling{}, err
	}
	r.op, r.capability = kinds[k].describe, discover
	var out cloud.Autoscaling
	var refused error
	err = c.simulateCall(ctx, r, func(ctx context.Context) error {
		return c.world.readHistory(ctx, func(h history) {
			n, ok := c.findNode(k, region, uid)
			if !ok {
				refused = newFailure(cloud.NotFound, r, "NotFound", "there is no "+uid)
				return
			}
			out = c.stateAt(n, h, c.clk.Now()).cap.autoscaling()
		})
	})
	return out, cmp.Or(err, refused)
}

// findAutoscaled is findKind for kinds that a provider scales by itself.
func (c *conn) findAutoscaled(kind, region, method string) (int, request, error) {
	k, r, err := c.findKind(kind, region, method)
	if err == nil && !slices.Contains(cloud.AutoscaledTypes(), kind) {
		err = newFailure(cloud.Unsupported, r, "UnsupportedOperation", kind+" is not scaled by its provider")
	}
	return k, r, err
}

func (c capacity) autoscaling() cloud.Autoscaling {
	out := cloud.Autoscaling{Min: int64(c.Min), Max: int64(c.Max), Desired: int64(c.Desired)}
	if c.CPU > 0 {
		percent, cooldown := int64(c.CPU), int64(c.Cooldown)
		out.TargetCPUPercent, out.CooldownSeconds = &percent, &cooldown
	}
	out.Native, _ = json.Marshal(c) // integers always encode
	return out
}

// SetAutoscaling sets sizes and rule in one call. It does not enlarge a group without free capacity.
//
//nolint:revive // as cloud.Autoscaler has it
func (c *conn) SetAutoscaling(ctx context.Context, kind, region, uid string, want cloud.Autoscaling) error {
	k, r, err := c.findAutoscaled(kind, region, "SetAutoscaling")
	if err != nil {
		return err
	}
	r.op, r.capability = kinds[k].resize, scale
	return c.changeSize(ctx, turn{kind: k, request: r}, uid, func(n node, now capacity) (capacity, error) {
		to, err := now.scaledAs(want)
		if err != nil {
			return now, newFailure(cloud.ClassOf(err), r, "ValidationError", err.Error())
		}
		if to.Desired > now.Desired && c.drawHit(n, asNoCapacity, c.faults.noCapacity) {
			return now, newFailure(cloud.NoCapacity, r, "InsufficientInstanceCapacity", "We currently do not have "+
				"sufficient capacity for "+uid)
		}
		return to, nil
	})
}

// scaledAs returns the wanted capacity: the remembered one, or the wanted sizes with the present rule unless another
// is given.
func (c capacity) scaledAs(want cloud.Autoscaling) (capacity, error) {
	if len(want.Native) > 0 {
		var to capacity
		if err := json.Unmarshal(want.Native, &to); err != nil {
			return c, &cloud.Error{Class: cloud.Invalid, Message: fmt.Sprintf("what was remembered, %s, cannot "+
				"be read: %v", want.Native, err)}
		}
		if want.KeepStopped {
			return c, nil // its start restores all of it
		}
		return to, nil
	}
	if err := want.Check(); err != nil {
		return c, err
	}
	to := capacity{int32(want.Min), int32(want.Max), int32(want.Desired), c.CPU, c.Cooldown} //nolint:gosec // checked
	if want.TargetCPUPercent == nil {
		return to, nil
	}
	if to.CPU = int32(*want.TargetCPUPercent); c.CPU == 0 { //nolint:gosec // checked
		to.Cooldown = usualCooldown
	}
	if want.CooldownSeconds != nil {
		to.Cooldown = int32(*want.CooldownSeconds) //nolint:gosec // checked
	}
	return to, nil
}
