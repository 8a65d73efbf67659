package stacks_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/api/platform"
)

// reserve divides a pool of concurrent executions among functions by their shares. If the pool is large enough, each
// function gets its share. Otherwise each gets its proportional part of the pool, rounded by the method of the
// largest remainder, and at least one.
func reserve(pool int, shares map[string]int) map[string]int {
	all := 0
	for _, n := range shares {
		all += n
	}
	if all <= pool {
		return maps.Clone(shares)
	}
	out, left := map[string]int{}, pool
	for name, n := range shares {
		out[name] = max(1, n*pool/all)
		left -= out[name]
	}
	for _, name := range descending(shares, func(n int) int { return n * pool % all }) {
		if left > 0 && shares[name]*pool >= all {
			out[name], left = out[name]+1, left-1
		}
	}
	for _, name := range descending(shares, func(n int) int { return n }) {
		taken := min(max(0, -left), out[name]-1)
		out[name], left = out[name]-taken, left+taken
	}
	return out
}

// descending returns the names, sorted by a figure of their shares, the largest first.
func descending(shares map[string]int, figure func(int) int) []string {
	return slices.SortedFunc(maps.Keys(shares), func(a, b string) int {
		if n := figure(shares[b]) - figure(shares[a]); n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
}

// writeReserved writes the reservations of the functions of a child. A function with a share but without the property
// is reported as missing.
func (r *registry) writeReserved(child string) {
	shares := map[string]int{}
	for _, f := range r.functions {
		if f.Share > 0 && strings.Contains(r.files[child], "CodeUri: ../../build/"+f.Name+"\n") {
			shares[f.Name] = f.Share
		}
	}
	for name, n := range reserve(r.pools[stacks.File{Path: child}.Name()], shares) {
		r.put("what "+name+" reserves",
			`(?m)(CodeUri: ../../build/`+name+`\n(?:      .*\n)*?      ReservedConcurrentExecutions: `+
				`!If \[ReservesConcurrency, )\d+`, fmt.Sprintf("${1}%d", n), []string{child})
	}
}

func TestReserve_DividesAPoolByShares(t *testing.T) {
	for name, c := range map[string]struct {
		pool         int
		shares, want map[string]int
	}{
		"enough for all":            {20, map[string]int{"a": 10, "b": 5}, map[string]int{"a": 10, "b": 5}},
		"half of what is asked for": {15, map[string]int{"a": 20, "b": 10}, map[string]int{"a": 10, "b": 5}},
		"the largest remainder": {
			10, map[string]int{"a": 9, "b": 6, "c": 1}, map[string]int{"a": 5, "b": 4, "c": 1},
		},
		"each has one at least": {
			5, map[string]int{"a": 90, "b": 1, "c": 1}, map[string]int{"a": 3, "b": 1, "c": 1},
		},
	} {
		if got := reserve(c.pool, c.shares); !maps.Equal(got, c.want) {
			t.Errorf("%s: %v of %d for %v, want %v", name, got, c.pool, c.shares, c.want)
		}
	}
}

// A new worker takes its reservation from the other workers of its wing. All wings together leave the operation
// groups their part (infra/concurrency_test.go).
func TestReserved_ANewWorkerTakesFromItsWing(t *testing.T) {
	r := newRegistry(t, functions.All())
	all := 0
	for _, pool := range r.pools {
		all += pool
	}
	if all != 600 || len(r.pools) != len(r.children()) {
		t.Errorf("the pools %v are %d in all, want 600 in one for each stack", r.pools, all)
	}
	shares := map[string]int{"added": 30}
	for _, f := range functions.All() {
		if strings.Contains(r.files["infra/stacks/money.yaml"], "CodeUri: ../../build/"+f.Name+"\n") && f.Share > 0 {
			shares[f.Name] = f.Share
		}
	}
	got, sum := reserve(r.pools["money"], shares), 0
	for _, n := range got {
		sum += n
	}
	if sum != r.pools["money"] || got["added"] < 10 || got["links"] < 2 {
		t.Errorf("with one more worker the wing reserves %d of %d: %v", sum, r.pools["money"], got)
	}
}

// A function with a waiting caller must not be one of the nightly workers, whose few executions are busy for minutes.
func TestLinks_AreMadeByAFunctionOfTheirOwn(t *testing.T) {
	d := parseTemplate(t)
	ids, declared := d.functions(), map[string]platform.Declaration{}
	for _, f := range functions.All() {
		declared[f.Name] = f.Declaration
	}
	links := declared["links"]
	if links.Share == 0 || len(links.Tasks) > 0 || links.Schedule != "" || len(links.Stream) > 0 {
		t.Errorf("links reserves %d, and runs for %v %q %v: it is to wait for callers alone", links.Share, links.Tasks,
			links.Schedule, links.Stream)
	}
	for _, caller := range []string{"billing", "exports"} {
		if got := declared[caller].Calls; !slices.Equal(got, []string{"links"}) {
			t.Errorf("%s calls %v, want links alone", caller, got)
		}
	}
	rights := d.rights(t, ids["links"])
	for _, want := range []string{
		`["s3:PutObject"],"Effect":"Allow","Resource":"${ArchiveArn}/*/uploads/*"`,
		`["s3:GetObject"],"Effect":"Allow","Resource":"${ArchiveArn}/*/exports/*"`,
	} {
		if !strings.Contains(rights, want) {
			t.Errorf("what links signs may not %s: %s", want, rights)
		}
	}
	if strings.Contains(rights, "dynamodb:") {
		t.Errorf("links touches no table, and may %s", rights)
	}
	for _, f := range functions.All() { // an API function waits for those that it calls
		if len(f.Groups) == 0 {
			continue
		}
		for _, worker := range f.Calls {
			if w := declared[worker]; len(w.Tasks) > 0 && w.Schedule != "" {
				t.Errorf("%s waits for %s, which works by its schedule and in executions as well: "+
					"its caps may be used up", f.Name,
					worker)
			}
		}
	}
}
