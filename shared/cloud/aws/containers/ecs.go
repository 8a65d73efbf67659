// Package containers holds the kinds of ECS and EKS.
package containers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/applicationautoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
)

// Services are ECS services; the uid is the ARN in its long form, with the cluster. A stop suspends the scaling of the
// service, then sets its desired count to 0: AWS accepts a count outside of the scaling's bounds, and pulls it back
// later.
var Services = resource.Kind[ecsClient]{
	Kind: resource.CatalogueKind(cloud.AWSECS),
	Needs: resource.Needs{
		Discover: []string{
			"ecs:ListClusters", "ecs:ListServices", "ecs:DescribeServices", "ecs:DescribeTaskDefinition",
			"application-autoscaling:DescribeScalableTargets",
			"application-autoscaling:DescribeScalingPolicies",
		},
		StartStop: []string{"ecs:UpdateService", "application-autoscaling:RegisterScalableTarget"},
		Scale: []string{
			"ecs:UpdateService", "application-autoscaling:RegisterScalableTarget",
			"application-autoscaling:DeregisterScalableTarget",
			"application-autoscaling:PutScalingPolicy", "application-autoscaling:DeleteScalingPolicy",
		},
	},
	Client: func(cfg sdk.Config) ecsClient {
		return ecsClient{ecs.NewFromConfig(cfg), applicationautoscaling.NewFromConfig(cfg)}
	},
	List:  listServices,
	Read:  readServices,
	Act:   resource.ActOneByOne(actService),
	Scale: scaleService,

	ReadAutoscaling: readServiceAutoscaling,
	SetAutoscaling:  setServiceAutoscaling,
}

// ecsClient is the clients of ECS and of Application Auto Scaling, which scales its services.
type ecsClient struct {
	ecsAPI
	scaling scalingAPI
}

type ecsAPI interface {
	ListClusters(context.Context, *ecs.ListClustersInput) (*ecs.ListClustersOutput, error)
	ListServices(context.Context, *ecs.ListServicesInput) (*ecs.ListServicesOutput, error)
	DescribeServices(context.Context, *ecs.DescribeServicesInput) (*ecs.DescribeServicesOutput,
		error)
	DescribeTaskDefinition(context.Context, *ecs.DescribeTaskDefinitionInput) (*ecs.DescribeTaskDefinitionOutput, error)
	UpdateService(context.Context, *ecs.UpdateServiceInput) (*ecs.UpdateServiceOutput, error)
}

// serviceMemory is the state that a stop loses. Scaling is nil for a service without scaling. Made tells a service
// from a new one with the same name.
type serviceMemory struct {
	Desired int32    `json:"desired"`
	Scaling *Scaling `json:"scaling,omitempty"`
	Made    int64    `json:"made,omitempty"` // creation time, Unix seconds
}

// madeAt returns the creation time of the service in Unix seconds; 0 if ECS does not return it.
func madeAt(s ecs.Service) int64 {
	if s.CreatedAt == nil {
		return 0
	}
	return s.CreatedAt.Unix()
}

// SplitServiceUID returns the cluster and the service in a uid.
func SplitServiceUID(uid string) (cluster, service string, ok bool) {
	return strings.Cut(resource.NameIn(uid, "ecs", "service/"), "/")
}

// longARN adds the cluster to an ARN of the form before 2018, which names only the service.
func longARN(service, cluster string) string {
	at := strings.LastIndex(service, "service/")
	if at < 0 || strings.Contains(service[at+len("service/"):], "/") {
		return service
	}
	return service[:at] + "service/" + cluster[strings.LastIndex(cluster, "/")+1:] + service[at+len("service"):]
}

func listServices(ctx context.Context, c ecsClient, page string) (cloud.ResourcePage, error) {
	return resource.Lister{
		Outer: func(ctx context.Context, page string) ([]string, string, error) {
			out, err := c.ListClusters(ctx,
				&ecs.ListClustersInput{MaxResults: sdk.Int32(20), NextToken: resource.OptionalString(page)})
			if err != nil {
				return nil, "", err
			}
			return out.ClusterArns, sdk.ToString(out.NextToken), nil
		},
		Inner: func(ctx context.Context, cluster, page string) ([]cloud.Resource, string, error) {
			out, err := c.ListServices(ctx,
				&ecs.ListServicesInput{
					Cluster: &cluster, MaxResults: sdk.Int32(100),
					NextToken: resource.OptionalString(page),
				})
			if err != nil {
				return nil, "", err
			}
			found, err := serviceResources(ctx, c, cluster, out.ServiceArns)
			return found, sdk.ToString(out.NextToken), err
		},
	}.ListPage(ctx, page)
}

func serviceResources(ctx context.Context, c ecsClient, cluster string, arns []string) ([]cloud.Resource, error) {
	var found []cloud.Resource
	for ten := range slices.Chunk(arns, 10) {
		list, err := describeServices(ctx, c, cluster, ten)
		if err != nil {
			return nil, err
		}
		err = eachScaled(ctx, c, list, func(s ecs.Service, scaled *Scaling) {
			if r := serviceResource(s, scaled); r.Status != cloud.Terminated {
				found = append(found, r)
			}
		})
		if err != nil {
			return nil, err
		}
		askTasks(ctx, c, list, found)
	}
	return found, nil
}

// eachScaled returns each service of list with its scaling, nil when it has none.
func eachScaled(ctx context.Context, c ecsClient, list []ecs.Service, take func(ecs.Service, *Scaling)) error {
	scalings, err := describeScaling(ctx, c.scaling, resourceIDs(list))
	if err != nil {
		return err
	}
	for _, s := range list {
		take(s, scalings[resourceID(s)])
	}
	return nil
}

func describeServices(ctx context.Context, c ecsAPI, cluster string, names []string) ([]ecs.Service, error) {
	out, err := c.DescribeServices(ctx, &ecs.DescribeServicesInput{
		Cluster: &cluster, Services: names, Include: []ecs.ServiceField{ecs.ServiceFieldTags},
	})
	if err != nil {
		return nil, err
	}
	return out.Services, nil
}

func serviceResource(s ecs.Service, scaled *Scaling) cloud.Resource {
	r := cloud.Resource{
		UID: longARN(sdk.ToString(s.ServiceArn), sdk.ToString(s.ClusterArn)), Name: sdk.ToString(s.ServiceName),
		Status: serviceStatus(s), InstanceType: string(s.LaunchType), ParentUID: sdk.ToString(s.ClusterArn),
		Capacity:      map[string]int64{"desired": int64(s.DesiredCount), "running": int64(s.RunningCount)},
		Unschedulable: tiedService(s), CreatedAt: s.CreatedAt.Value().UTC(), Tags: map[string]string{},
		Facts: serviceFacts(s, scaled),
	}
	for _, t := range s.Tags {
		r.Tags[sdk.ToString(t.Key)] = sdk.ToString(t.Value)
	}
	if scaled != nil {
		r.Capacity["min"], r.Capacity["max"] = int64(scaled.Min), int64(scaled.Max)
	}
	return r
}

// serviceStatus returns the status of a service. ECS shows INACTIVE services for a while after they were deleted.
func serviceStatus(s ecs.Service) cloud.Status {
	switch {
	case sdk.ToString(s.Status) != "ACTIVE":
		return cloud.Terminated
	case s.DesiredCount == 0 && s.RunningCount+s.PendingCount == 0:
		return cloud.Stopped
	case s.DesiredCount == 0:
		return cloud.Stopping
	case s.RunningCount >= s.DesiredCount:
		return cloud.Running
	default:
		return cloud.Starting
	}
}

// serviceReason returns AWS's reason for a failed deployment, or the last event while tasks are missing.
func serviceReason(s ecs.Service) string {
	for _, d := range s.Deployments {
		if sdk.ToString(d.Status) == "PRIMARY" && d.RolloutState == ecs.DeploymentRolloutStateFailed {
			return sdk.ToString(d.RolloutStateReason)
		}
	}
	if serviceStatus(s).IsTransitional() && len(s.Events) > 0 {
		return sdk.ToString(s.Events[0].Message)
	}
	return ""
}

func tiedService(s ecs.Service) string {
	if s.SchedulingStrategy == ecs.SchedulingStrategyDaemon {
		return "daemon service: it runs once on every instance and has no count to set"
	}
	return ""
}

func readServices(ctx context.Context, c ecsClient, uids []string) ([]cloud.State, error) {
	var states []cloud.State
	for cluster, names := range byCluster(uids) {
		list, err := describeServices(ctx, c, cluster, names)
		if IsClusterGone(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		err = eachScaled(ctx, c, list, func(s ecs.Service, scaled *Scaling) {
			states = append(states, serviceState(s, scaled))
		})
		if err != nil {
			return nil, err
		}
	}
	return states, nil
}

// IsClusterGone reports whether the error says that the cluster, and so all of its services, does not exist.
func IsClusterGone(err error) bool {
	return err != nil && cloud.ClassOf(resource.ClassifyError(err)) == cloud.NotFound
}

func byCluster(uids []string) map[string][]string {
	out := map[string][]string{}
	for _, u := range uids {
		if cluster, name, ok := SplitServiceUID(u); ok {
			out[cluster] = append(out[cluster], name)
		}
	}
	return out
}

func serviceState(s ecs.Service, scaled *Scaling) cloud.State {
	state := cloud.State{
		UID: longARN(sdk.ToString(s.ServiceArn), sdk.ToString(s.ClusterArn)), Status: serviceStatus(s),
		Native: fmt.Sprintf("%s, desired %d, running %d, pending %d", sdk.ToString(s.Status), s.DesiredCount,
			s.RunningCount, s.PendingCount),
		Reason: serviceReason(s), Unschedulable: tiedService(s),
	}
	if s.DesiredCount > 0 {
		state.Snapshot = cloud.EncodeSnapshot(serviceMemory{s.DesiredCount, scaled, madeAt(s)})
	}
	return state
}
