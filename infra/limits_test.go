package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/infra/stacks"
)

// longestPending is one hour more than the longest TimeoutSeconds of our machines, a day, in seconds. An erasure
// waits for most of that day.
const longestPending = 25 * 3600

// Work that is pending for longer than its machine may run has stopped. The work of a plan is pending from the end of
// its event on (workqueue.Work.Until), and given up two days after it at the latest. Operators must be told earlier
// than that.
func TestOldestPending_IsLongerThanAnyMachineRuns(t *testing.T) {
	template, err := os.ReadFile("../template.yaml")
	if want := fmt.Sprintf("$.oldestPendingSeconds >= %d)", longestPending); err != nil ||
		!strings.Contains(string(template), want) {
		t.Errorf("template.yaml has no filter with %q; %v", want, err)
	}
	files, err := filepath.Glob("../statemachines/*.asl.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d state machines, %v", len(files), err)
	}
	for _, file := range files {
		if filepath.Base(file) == "event-readiness.asl.json" {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var m struct{ TimeoutSeconds int }
		if err = json.Unmarshal(b, &m); err != nil || m.TimeoutSeconds == 0 || m.TimeoutSeconds+3600 > longestPending {
			t.Errorf("%s may run for %d s, and the alarm is raised at %d; %v", file, m.TimeoutSeconds, longestPending,
				err)
		}
	}
}

// The metric filters contain sizes of functions, because a pattern can compare a field only with a constant.
// CloudWatch Logs takes patterns of 1,024 characters (API reference, MetricFilter).
func TestMetricFilters_KnowTheSizesOfFunctions(t *testing.T) {
	b, err := os.ReadFile("../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Resources map[string]struct {
			Properties struct {
				Pattern string `yaml:"FilterPattern"`
			} `yaml:"Properties"`
		} `yaml:"Resources"`
	}
	if err = yaml.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	for id, r := range doc.Resources {
		if n := len(r.Properties.Pattern); n > 1024 || strings.Contains(r.Properties.Pattern, "\n") {
			t.Errorf("the pattern of %s has %d characters, or more than one line", id, n)
		}
	}
	near, failed := doc.Resources["NearMemory"].Properties.Pattern,
		doc.Resources["FailedInvocations"].Properties.Pattern
	sizes, err := stacks.ReadSizes("..")
	if err != nil {
		t.Fatal(err)
	}
	for id, size := range sizes {
		nineTenths := (size*9 + 9) / 10
		if want := fmt.Sprintf("memorySizeMB = %d && $.record.metrics.maxMemoryUsedMB >= %d)", size,
			nineTenths); !strings.Contains(near, want) {
			t.Errorf("%s has %d MB, which NearMemory does not know: add ($.record.metrics.%s to its pattern", id, size,
				want)
		}
		if own := strings.Contains(failed,
			fmt.Sprintf("memorySizeMB != %d ", size)); own != (id == "authorizer") {
			t.Errorf("%s has %d MB: FailedInvocations knows the authorizer by its size, which no other "+
				"function may have", id, size)
		}
	}
}
