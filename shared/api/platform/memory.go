package platform

import (
	"cmp"
	"runtime/debug"
	"strconv"
)

// The share of a Lambda's memory that the Go runtime may take. The limit counts neither the pages of the program nor what the
// collector cannot free in time; with them the process stays below four fifths, so that one large answer more does not end it.
const (
	runtimeShare = 3
	ofMemory     = 4
)

// limitMemory tells the runtime what memory a Lambda has, from the variable that Lambda sets: without it the collector lets a heap
// grow to twice its live size and the function dies. What holds much takes its bounds from the limit (debug.SetMemoryLimit(-1)). A
// process that is no Lambda, and one whose operator has set GOMEMLIMIT, are left alone.
func limitMemory(getenv func(string) string) {
	megabytes, err := strconv.ParseInt(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"), 10, 32)
	if err != nil || megabytes <= 0 || cmp.Or(getenv("GOMEMLIMIT"), "off") != "off" {
		return
	}
	debug.SetMemoryLimit(megabytes << 20 * runtimeShare / ofMemory)
}
