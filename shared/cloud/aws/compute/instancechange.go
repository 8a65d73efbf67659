package compute

import (
	"context"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// InstanceChanges sets the type of stopped EC2 instances.
var InstanceChanges = resource.Changer{
	Type: cloud.AWSEC2, Open: func(at resource.Place) cloud.Changeable {
		return &instanceChange{ec2.NewFromConfig(at.Cfg)}
	},
}

type instanceChange struct{ api *ec2.Client }

// classValue is the value that holds the type of an instance.
const classValue = "class"

func (k *instanceChange) read(ctx context.Context, uid string) (*ec2.Instance, error) {
	out, err := k.api.DescribeInstances(ctx, &ec2.DescribeInstancesInput{InstanceIds: []string{resource.LastOf(uid)}})
	if err != nil {
		return nil, resource.ClassifyError(err)
	}
	for _, r := range out.Reservations {
		for i := range r.Instances {
			return &r.Instances[i], nil
		}
	}
	return nil, cloud.ErrNotFound("instance %s is gone", uid)
}

// Describe reads the type of an instance, and why it cannot be changed now.
func (k *instanceChange) Describe(ctx context.Context, uid, _ string) (cloud.Description, error) {
	i, err := k.read(ctx, uid)
	if err != nil {
		return cloud.Description{}, err
	}
	state := ""
	if i.State != nil {
		state = string(i.State.Name)
	}
	return cloud.Description{
		Values: cloud.Values{cloud.ExistsValue: "true", classValue: string(i.InstanceType)},
		Native: cloud.EncodeSnapshot(instanceState{state, obstacleOf(i)}),
	}, nil
}

// instanceState is the part of an instance that decides whether its type can be changed.
type instanceState struct {
	State    string `json:"state"`
	Obstacle string `json:"obstacle,omitempty"`
}

// obstacleOf returns why the type of an instance is never changed, or "".
func obstacleOf(i *ec2.Instance) string {
	group := resource.Ec2Tags(i.Tags)["aws:autoscaling:groupName"]
	switch {
	case group != "":
		return "it belongs to Auto Scaling group " + group + ": change the group"
	case i.RootDeviceType == ec2.DeviceTypeInstanceStore:
		return "its root device is an instance store, whose data a change of its type would lose"
	case sdk.ToString(i.SpotInstanceRequestId) != "":
		return "it is a Spot instance: its type is that of its request"
	}
	return ""
}

// Complete refuses a type for an instance that runs, belongs to a group, or would lose data.
func (k *instanceChange) Complete(_ context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string,
	error,
) {
	if err := checkResizable(d); err != nil {
		return nil, nil, err
	}
	return cloud.Values{classValue: want[classValue]}, []string{"AWS may lack capacity for the type before"}, nil
}

func checkResizable(d cloud.Description) error {
	now, _, err := cloud.DecodeSnapshot[instanceState](d.Native, "instance")
	switch {
	case err != nil:
		return err
	case now.Obstacle != "":
		return cloud.ErrUnsupported("%s", now.Obstacle)
	case now.State != "stopped":
		return cloud.ErrUnsupported("it is %s: it must be stopped for this change", now.State)
	}
	return nil
}

// Set sets the type of a stopped instance.
func (k *instanceChange) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	if err := checkResizable(d); err != nil {
		return err
	}
	_, err := k.api.ModifyInstanceAttribute(resource.WriteOnce(ctx), &ec2.ModifyInstanceAttributeInput{
		InstanceId:   sdk.String(resource.LastOf(c.UID)),
		InstanceType: &ec2.AttributeValue{Value: sdk.String(c.Set[classValue])},
	})
	return resource.ClassifyError(err)
}
