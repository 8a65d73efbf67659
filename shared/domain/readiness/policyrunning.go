package readiness

import (
	"bytes"
	"encoding/json"
	"reflect"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/foundation/fault"
)

// CheckRunning returns fault.Conflict when a target has 0 instances, as after a stop. Autoscaler policies and event
// readiness plans do not record 0 as the size of a target, do not set another size over it, and do not restore it.
func CheckRunning(uid string, live cloud.Autoscaling) error {
	if !live.RunsNothing() {
		return nil
	}
	return fault.New(fault.Conflict, "target %.300s has 0 instances, so its size is not known: start it first", uid)
}

// RunningSize returns the last known size of the target that is not 0: the size of the last apply, or else that at
// adoption. It returns false when there is none.
func (p *Policy) RunningSize() (cloud.Autoscaling, bool) {
	if p.Applied != nil && !p.Applied.RunsNothing() {
		return *p.Applied, true
	}
	return p.Found, !p.Found.RunsNothing()
}

// HasSet reports whether the policy has set the target's current scaling: by an apply, or by a call with an unknown
// result that took effect. The deletion of the policy restores such a target.
func (p *Policy) HasSet(live cloud.Autoscaling) bool {
	return p.Applied != nil || p.Asked != nil && hasBounds(live, *p.Asked) && !IsUntouched(live, p.Found)
}

// IsUntouched reports whether a target's scaling is exactly the recorded one: its sizes and the provider's own
// settings.
func IsUntouched(live, recorded cloud.Autoscaling) bool {
	return live.Min == recorded.Min && live.Max == recorded.Max && live.Desired == recorded.Desired &&
		sameJSON(live.Native, recorded.Native)
}

// IsRestored reports whether a target has the recorded bounds and size. If only the provider sets the size, the size
// may differ.
func IsRestored(live, recorded cloud.Autoscaling) bool {
	return hasBounds(live, recorded) && (live.Desired == recorded.Desired || live.SizedByProvider)
}

// IsWithin reports whether a target has the recorded bounds and a size within them. A rule of the provider may have
// changed the size since the restore.
func IsWithin(live, recorded cloud.Autoscaling) bool {
	return hasBounds(live, recorded) && live.Desired >= live.Min && live.Desired <= live.Max
}

func hasBounds(live, recorded cloud.Autoscaling) bool {
	return live.Min == recorded.Min && live.Max == recorded.Max
}

// sameJSON reports whether two documents are equal. Numbers are compared as text.
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
