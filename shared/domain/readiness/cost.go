package readiness

import (
	"time"

	"lamplighter.dev/shared/foundation/money"
)

// least is the shortest time that a machine is charged for.
const least = time.Minute

// Held returns how long the plan holds its targets at the scaled size, as machines are charged: by the second, from
// the first minute on.
func (p *Plan) Held() time.Duration { return max(p.ScaleDownAt().Sub(p.ScaleUpAt()), least) }

// Extra returns what so many machines more cost for a time, at a price of each for an hour: exactly.
func Extra(machines int64, hourly money.Amount, held time.Duration) money.Amount {
	return hourly.MulInt(machines).MulInt(int64(held / time.Second)).DivInt(int64(time.Hour / time.Second))
}
