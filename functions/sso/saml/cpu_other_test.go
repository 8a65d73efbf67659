//go:build !unix

package saml

import (
	"time"
)

var began = time.Now()

// processed returns how long this process runs: other systems do not tell how much of that is its own.
func processed() time.Duration { return time.Since(began) }
