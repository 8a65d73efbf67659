package details

import (
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/cloudwatch"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
	"lamplighter.dev/shared/cloud/aws/wire/lightsail"
	"lamplighter.dev/shared/cloud/aws/wire/workspaces"
)

// desktopsPerCall is how many WorkSpaces a call may name.
const desktopsPerCall = 25

var desktops = resource.Detail{
	Types: []string{cloud.AWSWorkSpace},
	Needs: []string{"workspaces:DescribeWorkspaces", "workspaces:DescribeWorkspacesConnectionStatus"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api := workspaces.NewFromConfig(at.Cfg)
		parts := slices.Collect(slices.Chunk(found, desktopsPerCall))
		resource.AskEach(len(parts), func(i int) {
			addModes(ctx, api, parts[i])
			addLogins(ctx, api, parts[i])
		})
	},
}

func addModes(ctx context.Context, api *workspaces.Client, found []*cloud.Resource) {
	all := byID(found)
	out, err := api.DescribeWorkspaces(ctx, &workspaces.DescribeWorkspacesInput{WorkspaceIds: idsOf(found)})
	if err != nil {
		noteUnread(found, err, "workspaces:DescribeWorkspaces", "running_mode")
		return
	}
	for _, w := range out.Workspaces {
		if r := all[sdk.ToString(w.WorkspaceId)]; r != nil && w.WorkspaceProperties != nil {
			r.Facts["running_mode"] = string(w.WorkspaceProperties.RunningMode)
		}
	}
}

// addLogins adds when a WorkSpace was last used; cloud.Epoch if never.
func addLogins(ctx context.Context, api *workspaces.Client, found []*cloud.Resource) {
	all := byID(found)
	out, err := api.DescribeWorkspacesConnectionStatus(ctx,
		&workspaces.DescribeWorkspacesConnectionStatusInput{WorkspaceIds: idsOf(found)})
	if err != nil {
		noteUnread(found, err, "workspaces:DescribeWorkspacesConnectionStatus", "last_login_at")
		return
	}
	for _, s := range out.WorkspacesConnectionStatus {
		r := all[sdk.ToString(s.WorkspaceId)]
		if r == nil {
			continue
		}
		if r.Facts["last_login_at"] = cloud.Epoch; s.LastKnownUserConnectionTimestamp != nil {
			r.Facts["last_login_at"] = s.LastKnownUserConnectionTimestamp.Value().UTC()
		}
	}
}

func idsOf(found []*cloud.Resource) []string {
	out := make([]string, len(found))
	for i, r := range found {
		out[i] = resource.LastPart(r.UID)
	}
	return out
}

// virtualServers are instances of Lightsail.
var virtualServers = resource.Detail{
	Types: []string{cloud.AWSLightsail}, Needs: []string{"lightsail:GetInstances"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api, all, in := lightsail.NewFromConfig(at.Cfg), byUID(found), &lightsail.GetInstancesInput{}
		for {
			out, err := api.GetInstances(ctx, in)
			if err != nil {
				noteUnread(found, err, "lightsail:GetInstances", "state")
				return
			}
			for _, i := range out.Instances {
				if r := all[sdk.ToString(i.Arn)]; r != nil && i.State != nil {
					r.Facts["state"] = sdk.ToString(i.State.Name)
				}
			}
			if in.PageToken = out.NextPageToken; sdk.ToString(in.PageToken) == "" {
				return
			}
		}
	},
}

// clustersPerCall is how many clusters of ECS, and alarms, a call may name.
const clustersPerCall = 100

// taskClusters are clusters of ECS.
var taskClusters = resource.Detail{
	Types: []string{"aws-ecs-cluster"}, Needs: []string{"ecs:DescribeClusters"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api, all := ecs.NewFromConfig(at.Cfg), byUID(found)
		for part := range slices.Chunk(found, clustersPerCall) {
			var in ecs.DescribeClustersInput
			for _, r := range part {
				in.Clusters = append(in.Clusters, r.UID)
			}
			out, err := api.DescribeClusters(ctx, &in)
			if err != nil {
				noteUnread(part, err, "ecs:DescribeClusters", "instance_count", "running_tasks")
				continue
			}
			for _, c := range out.Clusters {
				if r := all[sdk.ToString(c.ClusterArn)]; r != nil {
					r.Facts["instance_count"] = float64(c.RegisteredContainerInstancesCount)
					r.Facts["running_tasks"] = float64(c.RunningTasksCount)
				}
			}
		}
	},
}

var alarms = resource.Detail{
	Types: []string{"aws-cloudwatch-alarm"}, Needs: []string{"cloudwatch:DescribeAlarms"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api := cloudwatch.NewFromConfig(at.Cfg)
		parts := slices.Collect(slices.Chunk(found, clustersPerCall))
		resource.AskEach(len(parts), func(i int) { addAlarms(ctx, api, parts[i]) })
	},
}

func addAlarms(ctx context.Context, api *cloudwatch.Client, found []*cloud.Resource) {
	all := byUID(found)
	in := &cloudwatch.DescribeAlarmsInput{
		AlarmTypes: []cloudwatch.AlarmType{cloudwatch.AlarmTypeCompositeAlarm, cloudwatch.AlarmTypeMetricAlarm},
		MaxRecords: sdk.Int32(clustersPerCall),
	}
	for _, r := range found {
		in.AlarmNames = append(in.AlarmNames, resource.NameIn(r.UID, "cloudwatch", "alarm:"))
	}
	out, err := api.DescribeAlarms(ctx, in)
	if err != nil {
		noteUnread(found, err, "cloudwatch:DescribeAlarms", "action_count", "state", "state_since")
		return
	}
	described := out.MetricAlarms
	for _, c := range out.CompositeAlarms {
		described = append(described, cloudwatch.MetricAlarm(c))
	}
	for _, a := range described {
		if r := all[sdk.ToString(a.AlarmArn)]; r != nil {
			r.Facts["state"], r.Facts["action_count"] = string(a.StateValue), float64(len(a.AlarmActions))
			if a.StateUpdatedTimestamp != nil {
				r.Facts["state_since"] = a.StateUpdatedTimestamp.Value().UTC()
			}
		}
	}
}
