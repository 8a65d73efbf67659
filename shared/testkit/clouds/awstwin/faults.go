package awstwin

import (
	"context"
	"time"
)

// Fault makes calls fail with an answer of AWS's form. With Lost, the call takes effect and gets no answer. With Delay
// alone, the answer comes later.
type Fault struct {
	Op, Code, Message string // no Op is every one
	Region            string // "" is every one
	Status            int
	Times             int       // how often; below 0 is always
	Until             time.Time // the fault ends at this time; the zero time is never
	Lost              bool
	Delay             time.Duration
}

// AddFault adds a fault.
func (c *Cloud) AddFault(f Fault) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults = append(c.faults, f)
}

// EndFaults ends all faults.
func (c *Cloud) EndFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.faults, c.throttled, c.revoked = nil, 0, false
}

// RevokeKeys makes the twin refuse every key from now on.
func (c *Cloud) RevokeKeys() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.revoked = true
}

// hits reports whether the fault applies to the call.
func (f *Fault) hits(q request) bool {
	return f.Times != 0 && (f.Op == "" || f.Op == q.service+":"+q.op) && (f.Region == "" || f.Region == q.region) &&
		(f.Until.IsZero() || time.Now().Before(f.Until))
}

// fault returns the fault that applies to a call, and counts it.
func (c *Cloud) fault(q request) (Fault, bool) {
	for i := range c.faults {
		f := &c.faults[i]
		if f.hits(q) && (f.Lost || f.Code != "") {
			f.Times--
			return *f, true
		}
	}
	return Fault{}, false
}

// delay holds up a call before the twin is locked.
func (c *Cloud) delay(ctx context.Context, q request) error {
	var wait time.Duration
	c.mu.Lock()
	for i := range c.faults {
		if f := &c.faults[i]; f.Delay > 0 && f.hits(q) {
			wait = max(wait, f.Delay)
			f.Times--
		}
	}
	c.mu.Unlock()
	if wait == 0 {
		return ctx.Err()
	}
	select {
	case <-time.After(wait):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// settleDue completes the changes of instances that have been under way for long enough.
func (c *Cloud) settleDue() {
	if c.Takes == 0 {
		return
	}
	for _, i := range c.instances {
		if !i.since.IsZero() && time.Since(i.since) >= c.Takes {
			i.settleState()
			i.since = time.Time{}
		}
	}
}
