package organisationsync_test

import (
	"sync/atomic"
	"time"

	"lamplighter.dev/shared/foundation/clock"
)

// shifted is the machine's clock, ahead by as much as a test has let pass.
type shifted struct {
	clock.System
	by *atomic.Int64
}

func newShifted() shifted { return shifted{by: &atomic.Int64{}} }

// Now returns the machine's time plus the time that was skipped.
func (s shifted) Now() time.Time { return s.System.Now().Add(time.Duration(s.by.Load())) }

// skipTime lets time pass.
func (s shifted) skipTime(d time.Duration) { s.by.Add(int64(d)) }
