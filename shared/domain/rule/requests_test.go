package rule

import (
	"slices"
	"strings"
	"testing"
)

// The rules whose savings are booked at nodes, with the setting that frees requests.
func TestLoweredRequest_IsThatOfTheRulesAboutRequests(t *testing.T) {
	var got []string
	for i := range All() {
		r := &All()[i]
		if set, is := r.LoweredRequest(); is {
			got = append(got, strings.TrimPrefix(r.ID, "kubernetes-")+" "+set.Name+" "+set.Value.Text)
		}
	}
	slices.Sort(got)
	want := []string{
		"daemonset-cpu-overrequested cpu_request_cores cpu_p95_14d",
		"daemonset-memory-overrequested mem_request_gib mem_max_14d",
		"deployment-cpu-overrequested cpu_request_cores cpu_p95_14d",
		"deployment-memory-overrequested mem_request_gib mem_max_14d",
		"statefulset-cpu-overrequested cpu_request_cores cpu_p95_14d",
		"statefulset-memory-overrequested mem_request_gib mem_max_14d",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
