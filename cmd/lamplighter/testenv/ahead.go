package testenv

import (
	"sync/atomic"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// Ahead is the machine's clock, which a test can set ahead: to the organization's next minute when it asks more than a
// minute allows, to the end of a code or a token. Who sleeps does so as long as on the machine's clock.
type Ahead struct {
	clock.System
	by atomic.Int64
}

// Now returns the machine's time and what the clock was set ahead.
func (a *Ahead) Now() time.Time { return a.System.Now().Add(time.Duration(a.by.Load())) }

// Advance sets the clock ahead by d.
func (a *Ahead) Advance(d time.Duration) { a.by.Add(int64(d)) }
