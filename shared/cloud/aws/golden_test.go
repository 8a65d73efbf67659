package aws_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
	"lamplighter.dev/shared/testkit/clouds/cloudtest"
)

var update = flag.Bool("update", false, "write the golden files anew")

// goldenGroups are the resources for the recorded requests: the first free one of each group.
func goldenGroups(tw *awstwin.Cloud) []cloudtest.Group {
	return []cloudtest.Group{
		ec2Group(tw), rdsGroup(tw), auroraGroup(tw), asgGroup(tw), ecsGroup(tw), eksGroup(tw), redshiftGroup(tw),
		notebookGroup(tw),
		clusterGroup(tw, cloud.AWSDocDB, "docdb"), clusterGroup(tw, cloud.AWSNeptune, "neptune"), functionGroup(tw),
		desktopGroup(tw), collectedGroup(tw, cloud.AWSAppRunner, "apprunner"),
		collectedGroup(tw, cloud.AWSLightsail, "lightsail"),
		collectedGroup(tw, cloud.AWSCanary, "synthetics"),
	}
}

// The requests of each kind to AWS, to the letter: operations and parameters.
func TestKinds_AskAWSExactlyThis(t *testing.T) {
	tw := &awstwin.Cloud{}
	recorded := map[string]bool{}
	for _, g := range goldenGroups(tw) {
		recorded[g.Kind] = true
		t.Run(g.Kind, func(t *testing.T) {
			got := recordCalls(t, tw, g)
			file := filepath.Join("testdata", g.Kind+".golden")
			if *update {
				if err := os.WriteFile(file, []byte(got), 0o644); err != nil { //nolint:gosec // all may read it
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil || got != string(want) {
				t.Errorf("%v\n%s asks\n%s\nwant\n%s", err, g.Kind, got, want)
			}
		})
	}
	for _, k := range cloud.KindsOf("aws") {
		if !recorded[k.Type] && !cloud.IsCollective(k.Type) {
			t.Errorf("the requests of %s are not recorded", k.Type)
		}
	}
}

// recordCalls runs every operation of a kind and returns the requests that it sent.
func recordCalls(t *testing.T, tw *awstwin.Cloud, g cloudtest.Group) string {
	t.Helper()
	c, uid := open(t, tw, keys(awstwin.AccessKey)), g.Free[len(g.Free)-1]
	k, _ := cloud.KindOf(g.Kind)
	var b strings.Builder
	step := func(name string, do func() error) {
		before := len(tw.Calls(""))
		if err := do(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		fmt.Fprintf(&b, "# %s\n", name)
		for _, call := range tw.Calls("")[before:] {
			params := maps.Clone(call.Params)
			delete(params, "clientRequestToken") // a random number of the SDK's
			told, err := json.Marshal(params)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&b, "%s %s\n", call.Op, told)
		}
		for range 4 { // groups bring instances up one turn after the other
			tw.SettleAll()
		}
	}
	step("read", func() error { _, err := c.Read(t.Context(), g.Kind, region, []string{uid}); return err })
	remembered := state(t, c, g.Kind, uid).Snapshot
	step("stop", func() error { return act(t, c, cloud.Stop, g.Kind, cloud.Target{UID: uid}) })
	step("start", func() error { return act(t, c, cloud.Start, g.Kind, cloud.Target{UID: uid, Snapshot: remembered}) })
	if k.Scalable {
		one := int64(1)
		step("scale", func() error { return c.Scale(t.Context(), g.Kind, region, uid, cloud.Capacity{Desired: &one}) })
	}
	return b.String()
}
