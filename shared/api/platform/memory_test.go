package platform

import (
	"math"
	"runtime/debug"
	"testing"
)

func TestLimitMemory_FollowsTheSizeOfTheFunction(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	for _, c := range []struct {
		name string
		env  map[string]string
		want int64
	}{
		{"of a small function", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256"}, 192 << 20},
		{"of the largest", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "10240"}, 7680 << 20},
		{"on a laptop", nil, math.MaxInt64},
		{
			"when an operator has set another",
			map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "256", "GOMEMLIMIT": "200MiB"},
			math.MaxInt64,
		},
		{"when it says nothing that can be", map[string]string{"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "-1"}, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			debug.SetMemoryLimit(math.MaxInt64)
			limitMemory(func(name string) string { return c.env[name] })
			if got := debug.SetMemoryLimit(-1); got != c.want {
				t.Errorf("the limit is %d bytes, want %d", got, c.want)
			}
		})
	}
}
