package databases

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/redshift"
)

// Warehouses are Redshift clusters; the uid is the ARN of the cluster. A stop pauses it: its storage stays billed.
var Warehouses = resource.Kind[redshiftAPI]{
	Kind: resource.CatalogueKind(cloud.AWSRedshift),
	Needs: resource.Needs{
		Discover:  []string{"redshift:DescribeClusters", "redshift:DescribeStorage"},
		StartStop: []string{"redshift:PauseCluster", "redshift:ResumeCluster"},
	},
	ClientOf: func(cfg sdk.Config, account string) redshiftAPI {
		return warehouseClient{
			redshift.NewFromConfig(cfg),
			"arn:" + resource.PartitionOf(cfg.Region) + ":redshift:" + cfg.Region + ":" + account,
		}
	},
	List: listWarehouses,
	Read: resource.ReadOneByOne(readWarehouse),
	Act:  resource.ActOneByOne(actWarehouse),
}

// warehouseClient is the client of Redshift in one region, with the common prefix of the ARNs of the account's
// clusters there.
type warehouseClient struct {
	*redshift.Client
	prefix string
}

func (c warehouseClient) arnPrefix() string { return c.prefix }

// redshiftAPI is the subset of the Redshift API that is called here.
type redshiftAPI interface {
	arnPrefix() string
	DescribeClusters(context.Context, *redshift.DescribeClustersInput) (*redshift.DescribeClustersOutput, error)
	DescribeStorage(context.Context, *redshift.DescribeStorageInput) (*redshift.DescribeStorageOutput, error)
	PauseCluster(context.Context, *redshift.PauseClusterInput) (*redshift.PauseClusterOutput, error)
	ResumeCluster(context.Context, *redshift.ResumeClusterInput) (*redshift.ResumeClusterOutput, error)
}

// warehouseUID returns the ARN of a cluster. Redshift returns only the ARN of its namespace, and not always. An
// identifier is unique in an account and region.
func warehouseUID(prefix string, c redshift.Cluster) string {
	if before, _, told := strings.Cut(sdk.ToString(c.ClusterNamespaceArn), ":namespace:"); told {
		prefix = before
	}
	return prefix + ":cluster:" + sdk.ToString(c.ClusterIdentifier)
}

func warehouseName(uid string) string { return resource.NameIn(uid, "redshift", "cluster:") }

func listWarehouses(ctx context.Context, c redshiftAPI, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeClusters(ctx,
		&redshift.DescribeClustersInput{MaxRecords: sdk.Int32(100), Marker: resource.OptionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.Marker)}
	for _, k := range out.Clusters {
		p.Resources = append(p.Resources, warehouseResource(c.arnPrefix(), k))
	}
	askBackups(ctx, c, p.Resources)
	return p, nil
}

func warehouseResource(prefix string, c redshift.Cluster) cloud.Resource {
	tags := map[string]string{}
	for _, t := range c.Tags {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return cloud.Resource{
		UID: warehouseUID(prefix, c), Name: sdk.ToString(c.ClusterIdentifier), Zone: sdk.ToString(c.AvailabilityZone),
		Status: warehouseStatus(sdk.ToString(c.ClusterStatus)), InstanceType: sdk.ToString(c.NodeType), Tags: tags,
		Capacity: map[string]int64{"nodes": int64(sdk.ToInt32(c.NumberOfNodes))}, Unschedulable: tiedWarehouse(c),
		CreatedAt: c.ClusterCreateTime.Value().UTC(), Facts: warehouseFacts(c),
	}
}

// tiedWarehouse returns the reason why a cluster cannot be paused, or "" ("Pausing and resuming a cluster", Redshift
// management guide).
func tiedWarehouse(c redshift.Cluster) string {
	switch {
	case sdk.ToString(c.MultiAZ) == "Enabled":
		return "runs in several zones, which Redshift does not pause"
	case c.HsmStatus != nil:
		return "uses a hardware security module, which Redshift does not pause"
	}
	return ""
}

// readWarehouse describes one cluster: Redshift accepts no list of identifiers.
func readWarehouse(ctx context.Context, c redshiftAPI, uid string) (cloud.State, error) {
	name := warehouseName(uid)
	if name == "" {
		return cloud.State{}, cloud.ErrNotFound("%q is not the ARN of a Redshift cluster", uid)
	}
	out, err := c.DescribeClusters(ctx, &redshift.DescribeClustersInput{ClusterIdentifier: &name})
	if err != nil {
		return cloud.State{}, err
	}
	for _, k := range out.Clusters {
		if warehouseUID(c.arnPrefix(), k) == uid {
			return warehouseState(uid, k), nil
		}
	}
	return cloud.State{}, cloud.ErrNotFound("there is no Redshift cluster %s", uid)
}

func warehouseState(uid string, c redshift.Cluster) cloud.State {
	native := sdk.ToString(c.ClusterStatus)
	s := cloud.State{UID: uid, Status: warehouseStatus(native), Native: native, Unschedulable: tiedWarehouse(c)}
	if s.Status == cloud.Unknown {
		s.Reason = "Redshift reports " + native
	}
	return s
}

func actWarehouse(ctx context.Context, c redshiftAPI, v cloud.Verb, t cloud.Target) error {
	name := warehouseName(t.UID)
	if name == "" {
		return cloud.ErrNotFound("%q is not the ARN of a Redshift cluster", t.UID)
	}
	if v == cloud.Start {
		_, err := c.ResumeCluster(ctx, &redshift.ResumeClusterInput{ClusterIdentifier: &name})
		return err
	}
	_, err := c.PauseCluster(ctx, &redshift.PauseClusterInput{ClusterIdentifier: &name})
	return err
}

var warehouseStatuses = map[string]cloud.Status{
	"available":                  cloud.Running,
	"available, prep-for-resize": cloud.Running,
	"available, resize-cleanup":  cloud.Running,
	"paused":                     cloud.Stopped,
	"pausing":                    cloud.Stopping,
	"resuming":                   cloud.Starting,
	"deleting":                   cloud.Terminated,
	"final-snapshot":             cloud.Terminated,
	"hardware-failure":           cloud.Unknown,
	"incompatible-hsm":           cloud.Unknown,
	"incompatible-network":       cloud.Unknown,
	"incompatible-parameters":    cloud.Unknown,
	"incompatible-restore":       cloud.Unknown,
	"storage-full":               cloud.Unknown,
	"cancelling-resize":          cloud.Pending,
	"":                           cloud.Unknown,
}

// warehouseStatus converts Redshift's statuses. Statuses outside of the table are work under way (modifying, resizing,
// rebooting).
func warehouseStatus(native string) cloud.Status {
	if s, ok := warehouseStatuses[native]; ok {
		return s
	}
	return cloud.Pending
}
