package platform

import (
	"cmp"
	"runtime/debug"
	"strconv"
)

// The share of a Lambda's memory that the Go runtime may use. The limit does not include the pages of the program, nor
// memory that the collector cannot free in time. Including these, the process stays below four fifths, so that one more
// large response does not crash it.
const (
	runtimeShare = 3
	ofMemory     = 4
)

// limitMemory sets the memory limit of the Go runtime from the variable that Lambda sets. Without it, the heap may grow
// to twice its live size and crash the function. Code with large buffers derives its limits from it
// (debug.SetMemoryLimit(-1)). It does nothing outside of Lambda, and if the operator has set GOMEMLIMIT.
func limitMemory(getenv func(string) string) {
	megabytes, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 32)
	if err != nil || megabytes <= 0 || cmp.Or(getenv("GOMEMLIMIT"), "off") != "off" {
		return
	}
	debug.SetMemoryLimit(megabytes << 20 * runtimeShare / ofMemory)
}
