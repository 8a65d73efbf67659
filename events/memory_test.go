package events_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/testkit/indextest"
	"lamplighter.dev/shared/testkit/lambdaemulator"
	"lamplighter.dev/shared/testkit/race"
	"lamplighter.dev/shared/testkit/tabletest"
)

// maxShare is the largest part of its memory that a function may use, in percent.
const maxShare = 80

// TestLargeInventoriesFitIntoTheFunctionsThatReadThem runs a built function in the least memory that the templates
// give to a reader of the inventory's index. It uses a store with one organization of half a million resources, and a
// store with many of a thousand.
func TestLargeInventoriesFitIntoTheFunctionsThatReadThem(t *testing.T) {
	race.SkipSequential(t)
	if testing.Short() {
		t.Skip("SKIPPED: -short: no function was built and filled")
	}
	if _, err := os.Stat("/proc/self/status"); err != nil {
		t.Skip("SKIPPED: this system does not tell how much memory a process took at most: " + runtime.GOOS)
	}
	for _, c := range []struct {
		name       string
		orgs, rows int
		queries    []string
	}{
		{"one organization of 500,000", 1, 500_000, []string{
			`"limit":"100"`, `"search":"person-499"`,
			`"sort_by":"status","sort_order":"desc","page":"400","limit":"100"`, `"status":"running"`,
		}},
		{"400 organizations of 1,000", 400, 1000, []string{`"search":"person-49"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			holdBelow(t, newInventories(t, c.orgs, c.rows), leastSize(t), c.orgs, c.queries)
		})
	}
}

// holdBelow asks a built function with size MB for the inventories of all organizations, and checks its peak memory.
func holdBelow(t *testing.T, endpoint string, size, orgs int, queries []string) {
	t.Helper()
	sample, err := os.ReadFile("resources.list.json")
	if err != nil {
		t.Fatal(err)
	}
	f, err := lambdaemulator.StartFunction(bootstrap(t, "resources"),
		append(environment(endpoint), fmt.Sprintf("AWS_LAMBDA_FUNCTION_MEMORY_SIZE=%d", size))...)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for n := range orgs {
		for _, q := range queries {
			ask(t, f, bytes.ReplaceAll(sample, []byte(org), []byte(nthOrg(n))), q)
		}
	}
	peak := peakMemory(t, f.PID())
	share := peak * 100 / (size << 20)
	t.Logf("took %d MB at most, %d %% of %d", peak>>20, share, size)
	if share >= maxShare {
		t.Errorf("the function took %d of %d MB, %d %%; less than %d %% is wanted: give those that declare to read "+
			"%s more in infra/stacks, or make rows smaller",
			peak>>20, size, share, maxShare, inventory.ChunkPartition)
	}
}

// ask sends the sample with other query parameters. The answer must list resources.
func ask(t *testing.T, f *lambdaemulator.Function, sample []byte, query string) {
	t.Helper()
	var event map[string]json.RawMessage
	if err := json.Unmarshal(sample, &event); err != nil {
		t.Fatal(err)
	}
	var multi []string
	for one := range strings.SplitSeq(query, ",") {
		name, value, _ := strings.Cut(one, ":")
		multi = append(multi, name+":["+value+"]")
	}
	event["queryStringParameters"] = json.RawMessage("{" + query + "}")
	event["multiValueQueryStringParameters"] = json.RawMessage("{" + strings.Join(multi, ",") + "}")
	b, err := json.Marshal(event)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := f.Invoke(ctx, b)
	if err != nil || !bytes.Contains(out, []byte(`"statusCode":200`)) || !bytes.Contains(out, []byte("res_")) {
		t.Fatalf("%s: %v\n%.2000s\n%s", query, err, out, f.Log())
	}
}

// peakMemory returns the peak memory of a process in bytes.
func peakMemory(t *testing.T, pid int) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kB int
	if _, err = fmt.Sscan(rest, &kB); err != nil {
		t.Fatal("VmHWM", err)
	}
	return kB << 10
}

// leastSize returns the least memory in MB that the templates give to a function that declares to read the index.
func leastSize(t *testing.T) int {
	t.Helper()
	sizes, err := stacks.ReadSizes(root)
	if err != nil {
		t.Fatal(err)
	}
	least := math.MaxInt
	for _, name := range readers() {
		least = min(least, sizes[name])
	}
	return least
}

// readers returns the functions that declare to read the index.
func readers() []string {
	var out []string
	for _, f := range functions.All() {
		if slices.Contains(f.Access.All(), inventory.ChunkPartition) {
			out = append(out, f.Name)
		}
	}
	return out
}

// newInventories serves the account of the samples with orgs organizations of rows resources each.
func newInventories(t *testing.T, orgs, rows int) string {
	t.Helper()
	stored, a := tabletest.New(t), newAWSAccount(t)
	for n := range orgs {
		one := nthOrg(n)
		indextest.Fill(t, stored, one, rows)
		a.storeIndex(stored, one)
	}
	srv := httptest.NewServer(a)
	t.Cleanup(srv.Close)
	return srv.URL
}

func nthOrg(n int) string { return fmt.Sprintf("%s%06d", org[:len(org)-6], n) }
