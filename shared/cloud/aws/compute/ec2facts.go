package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

var instanceStatuses = map[ec2.InstanceStateName]cloud.Status{
	ec2.InstanceStateNamePending:      cloud.Starting, // also of an instance that was just launched
	ec2.InstanceStateNameRunning:      cloud.Running,
	ec2.InstanceStateNameStopping:     cloud.Stopping,
	ec2.InstanceStateNameStopped:      cloud.Stopped,
	ec2.InstanceStateNameShuttingDown: cloud.Terminated, // there is no way back
	ec2.InstanceStateNameTerminated:   cloud.Terminated,
}

func instanceStatus(i ec2.Instance) cloud.Status {
	return resource.NativeStatus(instanceStatuses, ec2.InstanceStateName(resource.NativeState(i)))
}

// instanceReason returns AWS's reason for the last change. It explains why a start fell back to stopped
// ("Client.InternalError", a key that may not be used).
func instanceReason(i ec2.Instance) string {
	if i.StateReason != nil {
		return sdk.ToString(i.StateReason.Message)
	}
	return sdk.ToString(i.StateTransitionReason)
}

// spotRequests returns the types of the spot requests behind the instances, by request id. Unreadable requests are
// missing.
func spotRequests(ctx context.Context, c ec2API, found []*ec2.Instance) map[string]ec2.SpotInstanceType {
	var ids []string
	for _, i := range found {
		if i.InstanceLifecycle == ec2.InstanceLifecycleTypeSpot && i.SpotInstanceRequestId != nil {
			ids = append(ids, *i.SpotInstanceRequestId)
		}
	}
	requests := map[string]ec2.SpotInstanceType{}
	if len(ids) == 0 {
		return requests
	}
	out, err := c.DescribeSpotInstanceRequests(ctx, &ec2.DescribeSpotInstanceRequestsInput{SpotInstanceRequestIds: ids})
	if err != nil {
		return requests // tiedInstance then refuses them: a one-time request that is stopped is lost
	}
	for _, r := range out.SpotInstanceRequests {
		requests[sdk.ToString(r.SpotInstanceRequestId)] = r.Type
	}
	return requests
}

// tiedInstance returns the reason why an instance must not be started and stopped by itself, or "".
func tiedInstance(i ec2.Instance, requests map[string]ec2.SpotInstanceType) string {
	for _, t := range i.Tags {
		if sdk.ToString(t.Key) == "aws:autoscaling:groupName" {
			return "member of Auto Scaling group " + sdk.ToString(t.Value) +
				", which would replace it: act on the group"
		}
	}
	switch {
	case i.Operator != nil && sdk.ToBool(i.Operator.Managed):
		return "managed by " + sdk.ToString(i.Operator.Principal) + ": only that service may stop it"
	case i.RootDeviceType == ec2.DeviceTypeInstanceStore:
		return "its root device is an instance store, which a stop would erase"
	case i.InstanceLifecycle == ec2.InstanceLifecycleTypeSpot:
		return tiedSpot(requests[sdk.ToString(i.SpotInstanceRequestId)])
	}
	return ""
}

func tiedSpot(request ec2.SpotInstanceType) string {
	switch request {
	case ec2.SpotInstanceTypePersistent:
		return ""
	case ec2.SpotInstanceTypeOneTime:
		return "spot instance of a one-time request, which cannot be stopped"
	default:
		return "spot instance whose request could not be read (ec2:DescribeSpotInstanceRequests): only persistent " +
			"ones can be stopped"
	}
}

func uidsOf(targets []cloud.Target) []string {
	uids := make([]string, len(targets))
	for i, t := range targets {
		uids[i] = t.UID
	}
	return uids
}
