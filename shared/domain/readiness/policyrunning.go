package readiness

import (
	"bytes"
	"encoding/json"
	"reflect"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// CheckRunning refuses the scaling of a target that has 0 instances: fault.Conflict. A stop leaves a target so. Autoscaler policies and event
// readiness plans neither record 0 as the size of a target, nor set another size over it, nor restore it.
func CheckRunning(uid string, live cloud.Autoscaling) error {
	if !live.RunsNothing() {
		return nil
	}
	return fault.New(fault.Conflict, "target %.300s has 0 instances, so its size is not known: start it first", uid)
}

// RunningSize returns the last size of the target that is known and is not 0: that of the last apply, or that at the adoption. It is false when
// there is none.
func (p *Policy) RunningSize() (cloud.Autoscaling, bool) {
	if p.Applied != nil && !p.Applied.RunsNothing() {
		return *p.Applied, true
	}
	return p.Found, !p.Found.RunsNothing()
}

// HasSet reports whether the target, as it is scaled now, was set by the policy: by an apply, or by a call that never said how it ended and that has taken
// effect. The deletion of the policy gives such a target back.
func (p *Policy) HasSet(live cloud.Autoscaling) bool {
	return p.Applied != nil || p.Asked != nil && hasBounds(live, *p.Asked) && !IsUntouched(live, p.Found)
}

// IsUntouched reports whether a target is scaled exactly as it was recorded: its sizes, and what its provider keeps besides.
func IsUntouched(live, recorded cloud.Autoscaling) bool {
	return live.Min == recorded.Min && live.Max == recorded.Max && live.Desired == recorded.Desired &&
		sameJSON(live.Native, recorded.Native)
}

// IsRestored reports whether a target has the bounds and the size that were recorded of it. A size that only the provider sets need not be
// the recorded one.
func IsRestored(live, recorded cloud.Autoscaling) bool {
	return hasBounds(live, recorded) && (live.Desired == recorded.Desired || live.SizedByProvider)
}

// IsWithin reports whether a target has the bounds that were recorded of it, and a size between them. A rule of the provider may have moved the
// size since it was restored.
func IsWithin(live, recorded cloud.Autoscaling) bool {
	return hasBounds(live, recorded) && live.Desired >= live.Min && live.Desired <= live.Max
}

func hasBounds(live, recorded cloud.Autoscaling) bool {
	return live.Min == recorded.Min && live.Max == recorded.Max
}

// sameJSON reports whether two documents say the same. Numbers are compared as they are written.
func sameJSON(a, b json.RawMessage) bool {
	if bytes.Equal(a, b) {
		return true
	}
	var x, y any
	return decodeNumbers(a, &x) == nil && decodeNumbers(b, &y) == nil && reflect.DeepEqual(x, y)
}

func decodeNumbers(raw json.RawMessage, to *any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	return d.Decode(to)
}
