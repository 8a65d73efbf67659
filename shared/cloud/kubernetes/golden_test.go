package kubernetes_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/kubernetestwin"
)

// version matches the resource versions, which depend on the twin's fixtures.
var version = regexp.MustCompile(`"resourceVersion":"\d+"`)

// TestCallsOfEachKind compares the calls of each kind with the recorded ones: a listing, a stop of a running resource,
// a start of a stopped one, and a scale if the kind has sizes.
func TestCallsOfEachKind(t *testing.T) {
	for _, k := range []struct{ kind, uid string }{
		{deployment, uid("deployments", "shop/web")},
		{statefulSet, uid("statefulsets", "shop/db")},
		{cronJobKind, uid("cronjobs", "shop/nightly")},
		{namespace, shop},
		{daemonSet, uid("daemonsets", "shop/agent")},
	} {
		t.Run(k.kind, func(t *testing.T) {
			f := newFixture(t)
			f.add("deployments", kubernetestwin.Named("shop", "web", 2))
			f.add("statefulsets", kubernetestwin.Named("shop", "db", 3))
			f.add("cronjobs", cronJob("shop", "nightly", false))
			f.add("daemonsets", daemon("shop", "agent", fields{"disk": "ssd"}))
			var b strings.Builder
			note := func(what string) { f.note(&b, what) }
			_, err := f.conn.List(t.Context(), k.kind, "cluster", "")
			f.must(err)
			note("list")
			before := f.state(k.kind, k.uid)
			note("read what runs")
			for range 2 {
				if err := f.act(cloud.Stop, k.kind, cloud.Target{UID: k.uid}); err != nil &&
					cloud.ClassOf(err) != cloud.Moving {
					t.Fatal(err)
				}
				note("stop")
				f.settle()
			}
			f.wantStatus("stopped", k.kind, k.uid, cloud.Stopped)
			note("read what is stopped")
			for range 2 {
				if err := f.act(cloud.Start, k.kind, cloud.Target{UID: k.uid, Snapshot: before.Snapshot}); err != nil &&
					cloud.ClassOf(err) != cloud.Moving {
					t.Fatal(err)
				}
				note("start")
				f.settle()
			}
			f.wantStatus("started", k.kind, k.uid, cloud.Running)
			f.ForgetCalls()
			five := int64(5)
			if err := f.conn.Scale(t.Context(), k.kind, "cluster", k.uid, cloud.Capacity{Desired: &five}); err == nil {
				note("scale to 5")
			}
			golden(t, filepath.Join("testdata", k.kind+".txt"), b.String())
		})
	}
}

// note records the calls since the last note. Concurrent calls are sorted.
func (f *fixture) note(b *strings.Builder, what string) {
	fmt.Fprintf(b, "%s:\n", what)
	var reads, changes []string
	for _, c := range f.Calls("") {
		line := strings.TrimRight(fmt.Sprintf("  %s %s/%s %s %s", c.Op, c.Namespace, c.Name, c.Query,
			version.ReplaceAllString(c.Body, `"resourceVersion":"N"`)), " ")
		if c.Body == "" {
			reads = append(reads, line)
		} else {
			changes = append(changes, line)
		}
	}
	for _, line := range slices.Concat(slices.Sorted(slices.Values(reads)), changes) {
		b.WriteString(line + "\n")
	}
	f.ForgetCalls()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil || string(want) != got {
		t.Errorf("the calls are not those of %s (%v); if they should be other ones, run with -update:\n%s", path, err,
			got)
	}
}
