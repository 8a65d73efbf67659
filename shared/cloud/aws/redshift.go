package aws

import (
	"context"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/redshift/types"

	"lamplighter.dev/shared/cloud"
)

// warehouses are Redshift clusters; the uid is the ARN of the cluster. A stop pauses it: its storage stays billed.
var warehouses = kind[redshiftAPI]{
	Kind: catalogueKind(cloud.AWSRedshift),
	needs: needs{
		discover:  []string{"redshift:DescribeClusters", "redshift:DescribeStorage"},
		startStop: []string{"redshift:PauseCluster", "redshift:ResumeCluster"},
	},
	client: func(cfg sdk.Config) redshiftAPI { return redshift.NewFromConfig(cfg) },
	list:   listWarehouses,
	read:   readOneByOne(readWarehouse),
	act:    actOneByOne(actWarehouse),
}

// redshiftAPI is what is called of Redshift.
type redshiftAPI interface {
	DescribeClusters(context.Context, *redshift.DescribeClustersInput, ...func(*redshift.Options)) (*redshift.DescribeClustersOutput, error)
	DescribeStorage(context.Context, *redshift.DescribeStorageInput, ...func(*redshift.Options)) (*redshift.DescribeStorageOutput, error)
	PauseCluster(context.Context, *redshift.PauseClusterInput, ...func(*redshift.Options)) (*redshift.PauseClusterOutput, error)
	ResumeCluster(context.Context, *redshift.ResumeClusterInput, ...func(*redshift.Options)) (*redshift.ResumeClusterOutput, error)
}

// warehouseUID makes the ARN of a cluster of that of its namespace, which is all that Redshift tells; an identifier is unique in
// account and region.
func warehouseUID(c types.Cluster) string {
	before, _, _ := strings.Cut(sdk.ToString(c.ClusterNamespaceArn), ":namespace:")
	return before + ":cluster:" + sdk.ToString(c.ClusterIdentifier)
}

func warehouseName(uid string) string { return nameIn(uid, "redshift", "cluster:") }

func listWarehouses(ctx context.Context, c redshiftAPI, page string) (cloud.ResourcePage, error) {
	out, err := c.DescribeClusters(ctx, &redshift.DescribeClustersInput{MaxRecords: sdk.Int32(100), Marker: optionalString(page)})
	if err != nil {
		return cloud.ResourcePage{}, err
	}
	p := cloud.ResourcePage{Next: sdk.ToString(out.Marker)}
	for _, k := range out.Clusters {
		p.Resources = append(p.Resources, warehouseResource(k))
	}
	askBackups(ctx, c, p.Resources)
	return p, nil
}

func warehouseResource(c types.Cluster) cloud.Resource {
	tags := map[string]string{}
	for _, t := range c.Tags {
		tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	return cloud.Resource{
		UID: warehouseUID(c), Name: sdk.ToString(c.ClusterIdentifier), Zone: sdk.ToString(c.AvailabilityZone),
		Status: warehouseStatus(sdk.ToString(c.ClusterStatus)), InstanceType: sdk.ToString(c.NodeType), Tags: tags,
		Capacity: map[string]int64{"nodes": int64(sdk.ToInt32(c.NumberOfNodes))}, Unschedulable: tiedWarehouse(c),
		CreatedAt: sdk.ToTime(c.ClusterCreateTime).UTC(), Facts: warehouseFacts(c),
	}
}

// tiedWarehouse returns why a cluster cannot be paused ("Pausing and resuming a cluster", Redshift management guide).
func tiedWarehouse(c types.Cluster) string {
	switch {
	case sdk.ToString(c.MultiAZ) == "Enabled":
		return "runs in several zones, which Redshift does not pause"
	case c.HsmStatus != nil:
		return "uses a hardware security module, which Redshift does not pause"
	}
	return ""
}

// readWarehouse describes one cluster: Redshift takes no list of identifiers.
func readWarehouse(ctx context.Context, c redshiftAPI, uid string) (cloud.State, error) {
	name := warehouseName(uid)
	if name == "" {
		return cloud.State{}, notFound("%q is not the ARN of a Redshift cluster", uid)
	}
	out, err := c.DescribeClusters(ctx, &redshift.DescribeClustersInput{ClusterIdentifier: &name})
	if err != nil {
		return cloud.State{}, err
	}
	for _, k := range out.Clusters {
		if warehouseUID(k) == uid {
			return warehouseState(k), nil
		}
	}
	return cloud.State{}, notFound("there is no Redshift cluster %s", uid)
}

func warehouseState(c types.Cluster) cloud.State {
	native := sdk.ToString(c.ClusterStatus)
	s := cloud.State{UID: warehouseUID(c), Status: warehouseStatus(native), Native: native, Unschedulable: tiedWarehouse(c)}
	if s.Status == cloud.Unknown {
		s.Reason = "Redshift reports " + native
	}
	return s
}

func actWarehouse(ctx context.Context, c redshiftAPI, v cloud.Verb, t cloud.Target) error {
	name := warehouseName(t.UID)
	if name == "" {
		return notFound("%q is not the ARN of a Redshift cluster", t.UID)
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

// warehouseStatus places Redshift's words; those that are not in the table are work under way (modifying, resizing, rebooting).
func warehouseStatus(native string) cloud.Status {
	if s, ok := warehouseStatuses[native]; ok {
		return s
	}
	return cloud.Pending
}
