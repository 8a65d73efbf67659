//go:build unix

package saml

import (
	"syscall"
	"time"
)

// processed returns how much time processors have given to this process.
func processed() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
