package evaluator

import (
	"math/rand/v2"
	"time"
)

// This file has all that the simulation knows of event readiness plans.

// holdForEvents adds plans that hold a resource for a time.
func (d *simDay) holdForEvents(_ *rand.Rand, _ func() time.Duration) {}
