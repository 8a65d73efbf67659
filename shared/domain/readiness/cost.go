package readiness

import (
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// least is the shortest time that a machine is charged for.
const least = time.Minute

// Held returns how long the plan holds its targets at the scaled size, as it is charged: per second, at least one
// minute.
func (p *Plan) Held() time.Duration { return max(p.ScaleDownAt().Sub(p.ScaleUpAt()), least) }

// Extra returns the exact cost of additional machines for a time. hourly is the price of one machine per hour.
func Extra(machines int64, hourly money.Amount, held time.Duration) money.Amount {
	return hourly.MulInt(machines).MulInt(int64(held / time.Second)).DivInt(int64(time.Hour / time.Second))
}
