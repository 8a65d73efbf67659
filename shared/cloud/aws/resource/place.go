package resource

import (
	"context"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// Source is one AWS listing of resources that no kind lists. Most sources list one type with its facts; the last one
// is AWS's index of all types.
type Source struct {
	Name  string   // used in page tokens
	Needs []string // permissions, the one of the listing first
	List  func(ctx context.Context, at Place, page string) (cloud.ResourcePage, error)
}

// Place is the account and region that a source is asked for.
type Place struct {
	Cfg     sdk.Config // for the region that receives the calls
	Region  string     // region of the wanted resources; may be cloud.Global
	Account string     // number
	Custom  bool       // an emulator or a private cloud, which have no index
	Now     time.Time
	Seen    *Sightings
	// closed when the source of this resource type, which is listed side by side, has answered; nil when it is not
	// listed
	Volumes, Snapshots chan struct{}
}

// AwaitVolumes waits until the concurrent listing of volumes has ended.
func (p Place) AwaitVolumes(ctx context.Context) { await(ctx, p.Volumes) }

// AwaitSnapshots waits until the concurrent listing of snapshots has ended, without their facts.
func (p Place) AwaitSnapshots(ctx context.Context) { await(ctx, p.Snapshots) }

// TellSnapshots ends the wait for the snapshots.
func (p Place) TellSnapshots() {
	if p.Snapshots != nil {
		close(p.Snapshots)
	}
}

func await(ctx context.Context, answered <-chan struct{}) {
	if answered == nil {
		return
	}
	select {
	case <-answered:
	case <-ctx.Done():
	}
}

// IndexRegion is the region whose index holds the resources without a region.
const IndexRegion = "us-east-1"

// ARN returns the ARN of a resource of EC2, because most answers of EC2 do not hold it.
func (p Place) ARN(resource string) string {
	return "arn:" + PartitionOf(p.Cfg.Region) + ":ec2:" + p.Cfg.Region + ":" + p.Account + ":" + resource
}

// PartitionOf returns the partition of a region, as ARNs name it.
func PartitionOf(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "aws-cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "aws-us-gov"
	default:
		return "aws"
	}
}
