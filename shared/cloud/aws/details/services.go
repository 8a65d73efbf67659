package details

import (
	"context"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/databasemigrationservice"
	"lamplighter.dev/shared/cloud/aws/wire/dax"
	"lamplighter.dev/shared/cloud/aws/wire/directconnect"
	"lamplighter.dev/shared/cloud/aws/wire/transfer"
)

// replicationInstances are machines of DMS, with the number of their tasks that run.
var replicationInstances = resource.Detail{
	Types: []string{"aws-dms"}, Needs: []string{"dms:DescribeReplicationInstances", "dms:DescribeReplicationTasks"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api, all := databasemigrationservice.NewFromConfig(at.Cfg), byUID(found)
		err := resource.EachPage(ctx, api.DescribeReplicationInstances,
			&databasemigrationservice.DescribeReplicationInstancesInput{MaxRecords: sdk.Int32(100)},
			func(out *databasemigrationservice.DescribeReplicationInstancesOutput) {
				for _, i := range out.ReplicationInstances {
					if r := all[sdk.ToString(i.ReplicationInstanceArn)]; r != nil {
						r.Facts["state"], r.Facts["multi_az"] = sdk.ToString(i.ReplicationInstanceStatus), i.MultiAZ
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "dms:DescribeReplicationInstances", "multi_az", "state")
		}
		addTasks(ctx, api, found)
	},
}

func addTasks(ctx context.Context, api *databasemigrationservice.Client, found []*cloud.Resource) {
	running := map[string]float64{}
	err := resource.EachPage(ctx, api.DescribeReplicationTasks,
		&databasemigrationservice.DescribeReplicationTasksInput{MaxRecords: sdk.Int32(100)},
		func(out *databasemigrationservice.DescribeReplicationTasksOutput) {
			for _, t := range out.ReplicationTasks {
				if sdk.ToString(t.Status) == "running" {
					running[sdk.ToString(t.ReplicationInstanceArn)]++
				}
			}
		})
	if err != nil {
		noteUnread(found, err, "dms:DescribeReplicationTasks", "running_tasks")
		return
	}
	for _, r := range found {
		r.Facts["running_tasks"] = running[r.UID]
	}
}

// lines are connections of Direct Connect.
var lines = resource.Detail{
	Types: []string{"aws-direct-connect"},
	Needs: []string{"directconnect:DescribeConnections", "directconnect:DescribeVirtualInterfaces"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api, all := directconnect.NewFromConfig(at.Cfg), byID(found)
		out, err := api.DescribeConnections(ctx, &directconnect.DescribeConnectionsInput{})
		if err != nil {
			noteUnread(found, err, "directconnect:DescribeConnections", "bandwidth_mbps", "state", "vif_count")
			return
		}
		counts, err := countInterfaces(ctx, api)
		for _, c := range out.Connections {
			r := all[sdk.ToString(c.ConnectionId)]
			if r == nil {
				continue
			}
			r.Facts["state"] = string(c.ConnectionState)
			if mbps, ok := bandwidthOf(sdk.ToString(c.Bandwidth)); ok {
				r.Facts["bandwidth_mbps"] = mbps
			}
			switch {
			case err != nil:
				resource.NoteMissing(r.Facts, err, "directconnect:DescribeVirtualInterfaces", "vif_count")
			case sdk.ToString(c.LagId) == "": // the interfaces of a bundle belong to the bundle
				r.Facts["vif_count"] = counts[sdk.ToString(c.ConnectionId)]
			}
		}
	},
}

// countInterfaces counts the virtual interfaces of connections that are not deleted.
func countInterfaces(ctx context.Context, api *directconnect.Client) (map[string]float64, error) {
	out, err := api.DescribeVirtualInterfaces(ctx, &directconnect.DescribeVirtualInterfacesInput{})
	if err != nil {
		return nil, err
	}
	counts := map[string]float64{}
	for _, v := range out.VirtualInterfaces {
		if v.VirtualInterfaceState != "deleted" && v.VirtualInterfaceState != "deleting" {
			counts[sdk.ToString(v.ConnectionId)]++
		}
	}
	return counts, nil
}

// bandwidthOf reads "500Mbps" and "10Gbps", in Mbit/s.
func bandwidthOf(text string) (float64, bool) {
	factor := 1.0
	digits, mega := strings.CutSuffix(text, "Mbps")
	if !mega {
		var giga bool
		if digits, giga = strings.CutSuffix(text, "Gbps"); !giga {
			return 0, false
		}
		factor = 1000
	}
	n, err := strconv.ParseFloat(digits, 64)
	return n * factor, err == nil
}

// fileServers are servers of the Transfer Family.
var fileServers = resource.Detail{
	Types: []string{"aws-transfer"}, Needs: []string{"transfer:ListServers"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byUID(found)
		err := resource.EachPage(ctx, transfer.NewFromConfig(at.Cfg).ListServers,
			&transfer.ListServersInput{MaxResults: sdk.Int32(1000)}, func(out *transfer.ListServersOutput) {
				for _, s := range out.Servers {
					if r := all[sdk.ToString(s.Arn)]; r != nil {
						r.Facts["state"] = string(s.State)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "transfer:ListServers", "state")
		}
	},
}

// caches are clusters of DAX.
var caches = resource.Detail{
	Types: []string{"aws-dax"}, Needs: []string{"dax:DescribeClusters"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byUID(found)
		err := resource.EachPage(ctx, dax.NewFromConfig(at.Cfg).DescribeClusters,
			&dax.DescribeClustersInput{MaxResults: sdk.Int32(100)}, func(out *dax.DescribeClustersOutput) {
				for _, c := range out.Clusters {
					if r := all[sdk.ToString(c.ClusterArn)]; r != nil && c.TotalNodes != nil {
						r.Facts["node_count"] = resource.Count32(c.TotalNodes)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "dax:DescribeClusters", "node_count")
		}
	},
}
