package network

import (
	"context"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// AddressChanges releases Elastic IP addresses that are not associated.
var AddressChanges = resource.Changer{
	Type: "aws-eip", Open: func(at resource.Place) cloud.Changeable {
		return &addressChange{ec2.NewFromConfig(at.Cfg)}
	},
}

type addressChange struct{ api *ec2.Client }

// addressNative is what an undo needs to ask for the same address.
type addressNative struct {
	IP   string            `json:"ip"`
	Tags map[string]string `json:"tags"`
}

// Describe reads an address. One that the token's change got back has another allocation id and stands for it.
func (k *addressChange) Describe(ctx context.Context, uid, token string) (cloud.Description, error) {
	a, err := k.find(ctx, resource.Filtered("allocation-id", resource.LastOf(uid)))
	if err == nil && a == nil && token != "" {
		a, err = k.find(ctx, resource.Filtered("tag:"+cloud.RestoredTag, token))
	}
	switch {
	case err != nil:
		return cloud.Description{}, resource.ClassifyError(err)
	case a == nil:
		return cloud.Description{}, cloud.ErrNotFound("address %s is gone", resource.LastOf(uid))
	}
	d := cloud.Description{
		Values: cloud.Values{cloud.ExistsValue: "true", addressValue: sdk.ToString(a.PublicIp)},
		Native: cloud.EncodeSnapshot(addressNative{sdk.ToString(a.PublicIp), resource.Ec2Tags(a.Tags)}),
	}
	for kind, id := range map[string]*string{
		"instance ": a.InstanceId, "interface ": a.NetworkInterfaceId, "association ": a.AssociationId,
	} {
		if name := sdk.ToString(id); name != "" {
			d.Dependents = append(d.Dependents, kind+name)
		}
	}
	slices.Sort(d.Dependents)
	return d, nil
}

// addressValue is the value that holds the address itself.
const addressValue = "address"

func (k *addressChange) find(ctx context.Context, f ec2.Filter) (*ec2.Address, error) {
	out, err := k.api.DescribeAddresses(ctx, &ec2.DescribeAddressesInput{Filters: []ec2.Filter{f}})
	if err != nil || len(out.Addresses) == 0 {
		return nil, err
	}
	return &out.Addresses[0], nil
}

// Complete refuses: an address has no values to set.
func (k *addressChange) Complete(context.Context, cloud.Description, cloud.Values) (cloud.Values, []string, error) {
	return nil, nil, cloud.ErrUnsupported("an address is only released")
}

// Set releases an address, or asks for the same one again.
func (k *addressChange) Set(ctx context.Context, _ cloud.Description, c cloud.ChangeCall) error {
	id := resource.LastOf(c.UID)
	if c.Set[cloud.ExistsValue] == "false" {
		_, err := k.api.ReleaseAddress(resource.WriteOnce(ctx), &ec2.ReleaseAddressInput{AllocationId: &id})
		return resource.ClassifyError(err)
	}
	native, _, err := cloud.DecodeSnapshot[addressNative](c.Native, "address")
	if err != nil {
		return err
	}
	_, err = k.api.AllocateAddress(resource.WriteOnce(ctx), &ec2.AllocateAddressInput{
		Domain: ec2.DomainTypeVpc, Address: &native.IP,
		TagSpecifications: resource.TagsFor(ec2.ResourceTypeElasticIP, native.Tags, cloud.RestoredTag, c.Token),
	})
	return resource.ClassifyError(err)
}
