package aws_test

import (
	"strconv"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/testkit/clouds/awstwin"
)

// TestEverythingElse_DoesNotDescribeAgainWhatWasListed lists 450 instances, each with a volume that has a snapshot,
// and then all other resources, with one connection, as a discovery does.
func TestEverythingElse_DoesNotDescribeAgainWhatWasListed(t *testing.T) {
	for _, c := range []struct {
		name     string
		first    bool // instances are listed first
		page     int  // of the twin's listings
		describe int  // calls beside the listings
	}{
		{"instances before", true, 0, 0},
		{"instances before, in pages", true, 100, 0},
		{"instances not listed", false, 0, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			tw, conn := connect(t)
			tw.Page = c.page
			const n = 450
			for i := range n {
				state := []string{"running", "stopped"}[i%2]
				id := tw.AddInstance(awstwin.Instance{ID: awstwin.InstanceID(i + 1), Region: region, State: state}).ID
				volume := "vol-" + strconv.Itoa(i)
				tw.AddVolume(awstwin.Volume{ID: volume, Region: region, Type: "gp3", SizeGB: 8, Instance: id})
				tw.AddSnapshot(awstwin.Snapshot{
					ID: "snap-" + strconv.Itoa(i), Region: region, Volume: volume,
					SizeGB: 8,
				})
			}
			tw.AddSnapshot(awstwin.Snapshot{ID: "snap-old", Region: region, Volume: "vol-gone", SizeGB: 8})
			listed := 0
			if c.first {
				listed = len(listAll(t, conn, cloud.AWSEC2))
			}
			before := len(tw.Calls("ec2:DescribeInstances"))
			others, _ := listOthers(t, conn, region)
			if got := len(tw.Calls("ec2:DescribeInstances")) - before; got != c.describe || c.first && listed != n {
				t.Errorf("%d calls describe instances, want %d; %d were listed before", got, c.describe, listed)
			}
			states, there := map[any]int{}, map[any]int{}
			for _, r := range others {
				states[r.Facts["instance_state"]]++
				there[r.Facts["source_exists"]]++
			}
			if states["running"] != n/2 || states["stopped"] != n/2 || there[true] != n || there[false] != 1 {
				t.Errorf("states %v, sources %v", states, there)
			}
			if got := len(tw.Calls("ec2:DescribeVolumes")); c.page == 0 && got != 1 {
				t.Errorf("%d calls of DescribeVolumes, want that of the listing", got)
			}
		})
	}
}

// TestEverythingElse_ReadsSnapshotsOnce lists more volumes than fit into one filter, and their snapshots. If one
// answer holds all snapshots, the volumes take theirs from it. The public snapshots are read once for any number of
// pages.
func TestEverythingElse_ReadsSnapshotsOnce(t *testing.T) {
	for _, c := range []struct {
		name string
		page int // of the twin's listings
		want int // calls
	}{
		{"one page: the listing, and the public ones", 0, 2},
		{"five pages: the listing, once more for the volumes, and the public ones", 100, 11},
	} {
		t.Run(c.name, func(t *testing.T) {
			tw, conn := connect(t)
			tw.Page = c.page
			const n = 450
			for i := range n {
				volume := "vol-" + strconv.Itoa(i)
				tw.AddVolume(awstwin.Volume{ID: volume, Region: region, Type: "gp3", SizeGB: 8})
				tw.AddSnapshot(awstwin.Snapshot{
					ID: "snap-" + strconv.Itoa(i), Region: region, Volume: volume,
					SizeGB: 8,
					Public: i == 7,
				})
			}
			tw.AddVolume(awstwin.Volume{ID: "vol-bare", Region: region, Type: "gp3", SizeGB: 8})
			others, _ := listOthers(t, conn, region)
			if got := len(tw.Calls("ec2:DescribeSnapshots")); got != c.want {
				t.Errorf("%d calls of DescribeSnapshots, want %d", got, c.want)
			}
			kept, public := 0, 0
			for _, r := range others {
				if made, ok := r.Facts["last_snapshot_at"]; ok && made != any(cloud.Epoch) {
					kept++
				}
				if r.Facts["public"] == true {
					public++
				}
			}
			if kept != n || public != 1 {
				t.Errorf("%d volumes with a snapshot and %d public snapshots; want %d and 1", kept, public, n)
			}
		})
	}
}

// listAll reads all pages of a kind.
func listAll(t *testing.T, c cloud.Conn, kind string) (all []cloud.Resource) {
	t.Helper()
	for page := ""; ; {
		got, err := c.List(t.Context(), kind, region, page)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, got.Resources...)
		if page = got.Next; page == "" {
			return all
		}
	}
}
