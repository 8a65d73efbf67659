package containers

import (
	"context"
	"fmt"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
)

// Nodegroups are managed node groups of EKS; the uid is the ARN. A stop sets minimum and desired to 0 and keeps the
// maximum, because EKS requires at least 1. One call sets all three, because EKS checks them together. Workloads
// should be stopped first: an autoscaler in the cluster raises the group again for pods that find no node.
var Nodegroups = resource.Kind[EksAPI]{
	Kind: resource.CatalogueKind(cloud.AWSEKSNodegroup),
	Needs: resource.Needs{
		Discover:  []string{"eks:ListClusters", "eks:ListNodegroups", "eks:DescribeNodegroup", "eks:DescribeCluster"},
		StartStop: []string{"eks:UpdateNodegroupConfig", "eks:ListUpdates", "eks:DescribeUpdate"},
		Scale:     []string{"eks:UpdateNodegroupConfig"},
	},
	Client: func(cfg sdk.Config) EksAPI { return eks.NewFromConfig(cfg) },
	List:   listNodegroups,
	Read:   readNodegroups,
	Act:    resource.ActOneByOne(actNodegroup),
	Scale:  scaleNodegroup,
}

// EksAPI is the subset of the EKS API that is called for node groups.
type EksAPI interface {
	ListClusters(context.Context, *eks.ListClustersInput) (*eks.ListClustersOutput, error)
	DescribeCluster(context.Context, *eks.DescribeClusterInput) (*eks.DescribeClusterOutput,
		error)
	ListNodegroups(context.Context, *eks.ListNodegroupsInput) (*eks.ListNodegroupsOutput, error)
	DescribeNodegroup(context.Context, *eks.DescribeNodegroupInput) (*eks.DescribeNodegroupOutput, error)
	UpdateNodegroupConfig(context.Context, *eks.UpdateNodegroupConfigInput) (*eks.UpdateNodegroupConfigOutput, error)
	ListUpdates(context.Context, *eks.ListUpdatesInput) (*eks.ListUpdatesOutput, error)
	DescribeUpdate(context.Context, *eks.DescribeUpdateInput) (*eks.DescribeUpdateOutput, error)
}

// NodegroupPath returns the cluster and the name in a uid: …:nodegroup/<cluster>/<name>/<uuid>.
func NodegroupPath(uid string) (cluster, name string, ok bool) {
	f := strings.Split(resource.NameIn(uid, "eks", "nodegroup/"), "/")
	if len(f) != 3 {
		return "", "", false
	}
	return f[0], f[1], true
}

func listNodegroups(ctx context.Context, c EksAPI, page string) (cloud.ResourcePage, error) {
	return resource.Lister{
		Outer: func(ctx context.Context, page string) ([]string, string, error) {
			out, err := c.ListClusters(ctx,
				&eks.ListClustersInput{MaxResults: sdk.Int32(20), NextToken: resource.OptionalString(page)})
			if err != nil {
				return nil, "", err
			}
			return out.Clusters, sdk.ToString(out.NextToken), nil
		},
		Inner: func(ctx context.Context, cluster, page string) ([]cloud.Resource, string, error) {
			out, err := c.ListNodegroups(ctx,
				&eks.ListNodegroupsInput{
					ClusterName: &cluster, MaxResults: sdk.Int32(20),
					NextToken: resource.OptionalString(page),
				})
			if err != nil {
				return nil, "", err
			}
			found, err := NodegroupResources(ctx, c, cluster, out.Nodegroups)
			return found, sdk.ToString(out.NextToken), err
		},
	}.ListPage(ctx, page)
}

// NodegroupResources describes the groups side by side, because EKS describes one per call. It leaves out groups that
// were deleted meanwhile.
func NodegroupResources(ctx context.Context, c EksAPI, cluster string, names []string) ([]cloud.Resource, error) {
	got, errs := make([]*eks.Nodegroup, len(names)), make([]error, len(names))
	cloud.InParallel(len(names), resource.Width, func(i int) {
		got[i], errs[i] = describeNodegroup(ctx, c, cluster, names[i])
	})
	var found []cloud.Resource
	var versions []string
	for i, n := range got {
		switch {
		case IsClusterGone(errs[i]):
		case errs[i] != nil:
			return nil, errs[i]
		default:
			found, versions = append(found, nodegroupResource(n)), append(versions, sdk.ToString(n.Version))
		}
	}
	askVersionLag(ctx, c, cluster, found, versions)
	return found, nil
}

func describeNodegroup(ctx context.Context, c EksAPI, cluster, name string) (*eks.Nodegroup, error) {
	out, err := c.DescribeNodegroup(ctx, &eks.DescribeNodegroupInput{ClusterName: &cluster, NodegroupName: &name})
	if err != nil {
		return nil, err
	}
	return out.Nodegroup, nil
}

func nodegroupResource(n *eks.Nodegroup) cloud.Resource {
	uid := sdk.ToString(n.NodegroupArn)
	tags := n.Tags
	if tags == nil {
		tags = map[string]string{}
	}
	return cloud.Resource{
		UID: uid, Name: sdk.ToString(n.NodegroupName), Status: nodegroupStatus(n), Tags: tags,
		InstanceType: strings.Join(n.InstanceTypes, ","), Capacity: nodegroupSize(n).CapacityMap(),
		ParentUID: strings.Split(uid, ":nodegroup/")[0] + ":cluster/" + sdk.ToString(n.ClusterName),
		CreatedAt: n.CreatedAt.Value().UTC(), Facts: nodegroupFacts(n),
	}
}

func nodegroupSize(n *eks.Nodegroup) resource.Size {
	if n.ScalingConfig == nil {
		return resource.Size{}
	}
	return resource.SizeOf(n.ScalingConfig.MinSize, n.ScalingConfig.MaxSize, n.ScalingConfig.DesiredSize)
}

// nodegroupStatus returns the status of a group. A degraded group has a health issue; its size decides between running
// and stopped.
func nodegroupStatus(n *eks.Nodegroup) cloud.Status {
	if nodegroupSize(n).Desired == 0 {
		return resource.NativeStatus(emptyStatuses, n.Status)
	}
	return resource.NativeStatus(filledStatuses, n.Status)
}

// The statuses of node groups with the desired size 0, and of those with another size.
var (
	emptyStatuses = map[eks.NodegroupStatus]cloud.Status{
		eks.NodegroupStatusCreating: cloud.Pending,
		eks.NodegroupStatusUpdating: cloud.Stopping,
		eks.NodegroupStatusActive:   cloud.Stopped,
		eks.NodegroupStatusDegraded: cloud.Stopped,
		eks.NodegroupStatusDeleting: cloud.Terminated,
	}
	filledStatuses = map[eks.NodegroupStatus]cloud.Status{
		eks.NodegroupStatusCreating: cloud.Pending,
		eks.NodegroupStatusUpdating: cloud.Starting,
		eks.NodegroupStatusActive:   cloud.Running,
		eks.NodegroupStatusDeleting: cloud.Terminated,
	}
)

func readNodegroups(ctx context.Context, c EksAPI, uids []string) ([]cloud.State, error) {
	var states []cloud.State
	for _, uid := range uids {
		cluster, name, ok := NodegroupPath(uid)
		if !ok {
			continue
		}
		n, err := describeNodegroup(ctx, c, cluster, name)
		switch {
		case IsClusterGone(err):
		case err != nil:
			return nil, err
		case sdk.ToString(n.NodegroupArn) == uid:
			states = append(states, nodegroupState(ctx, c, n))
		}
	}
	return states, nil
}

func nodegroupState(ctx context.Context, c EksAPI, n *eks.Nodegroup) cloud.State {
	z := nodegroupSize(n)
	s := cloud.State{
		UID: sdk.ToString(n.NodegroupArn), Status: nodegroupStatus(n), Reason: health(n),
		Native: fmt.Sprintf("%s, min %d, max %d, desired %d", n.Status, z.Min, z.Max, z.Desired),
	}
	if s.Reason == "" && n.Status != eks.NodegroupStatusActive {
		s.Reason = lastUpdate(ctx, c, n)
	}
	if z.Desired > 0 {
		s.Snapshot = cloud.EncodeSnapshot(z)
	}
	return s
}

// health returns the health issues of a group in EKS's words.
func health(n *eks.Nodegroup) string {
	if n.Health == nil {
		return ""
	}
	var issues []string
	for _, i := range n.Health.Issues {
		issues = append(issues, string(i.Code)+": "+sdk.ToString(i.Message))
	}
	return strings.Join(issues, "; ")
}

// lastUpdate returns the state of the newest update. It is only an explanation: if it cannot be read, lastUpdate
// returns the text of the error instead.
func lastUpdate(ctx context.Context, c EksAPI, n *eks.Nodegroup) string {
	list, err := c.ListUpdates(ctx, &eks.ListUpdatesInput{Name: n.ClusterName, NodegroupName: n.NodegroupName})
	if err != nil {
		return "its updates cannot be read: " + resource.ClassifyError(err).Error()
	}
	if len(list.UpdateIds) == 0 {
		return ""
	}
	out, err := c.DescribeUpdate(ctx,
		&eks.DescribeUpdateInput{Name: n.ClusterName, NodegroupName: n.NodegroupName, UpdateId: &list.UpdateIds[0]})
	if err != nil {
		return "its update cannot be read: " + resource.ClassifyError(err).Error()
	}
	said := []string{fmt.Sprintf("update %s: %s", sdk.ToString(out.Update.Id), out.Update.Status)}
	for _, e := range out.Update.Errors {
		said = append(said, fmt.Sprintf("%s: %s", e.ErrorCode, sdk.ToString(e.ErrorMessage)))
	}
	return strings.Join(said, ", ")
}

func actNodegroup(ctx context.Context, c EksAPI, v cloud.Verb, t cloud.Target) error {
	n, err := liveNodegroup(ctx, c, t.UID)
	if err != nil {
		return err
	}
	z := nodegroupSize(n)
	if v == cloud.Stop {
		return setSize(ctx, c, n, resource.Size{Max: max(z.Max, 1)})
	}
	m, ok, err := cloud.DecodeSnapshot[resource.Size](t.Snapshot, "size")
	if err == nil && !ok {
		m, err = z.OrUnknown(sdk.ToString(n.NodegroupName))
	}
	if err != nil {
		return err
	}
	if m = m.ChangedTo(z); m == z {
		return nil
	}
	return setSize(ctx, c, n, m)
}

func liveNodegroup(ctx context.Context, c EksAPI, uid string) (*eks.Nodegroup, error) {
	cluster, name, ok := NodegroupPath(uid)
	if !ok {
		return nil, cloud.ErrNotFound("%q is not the ARN of an EKS node group", uid)
	}
	n, err := describeNodegroup(ctx, c, cluster, name)
	if err == nil && sdk.ToString(n.NodegroupArn) != uid {
		return nil, cloud.ErrNotFound("the EKS node group %s was made again as %s", uid, sdk.ToString(n.NodegroupArn))
	}
	return n, err
}

func setSize(ctx context.Context, c EksAPI, n *eks.Nodegroup, z resource.Size) error {
	_, err := c.UpdateNodegroupConfig(ctx, &eks.UpdateNodegroupConfigInput{
		ClusterName: n.ClusterName, NodegroupName: n.NodegroupName,
		ScalingConfig: &eks.NodegroupScalingConfig{MinSize: &z.Min, MaxSize: &z.Max, DesiredSize: &z.Desired},
	})
	return err
}

func scaleNodegroup(ctx context.Context, c EksAPI, uid string, want cloud.Capacity) error {
	n, err := liveNodegroup(ctx, c, uid)
	if err != nil {
		return err
	}
	z, err := nodegroupSize(n).WithCapacity(want)
	if err != nil {
		return err
	}
	return setSize(ctx, c, n, z)
}
