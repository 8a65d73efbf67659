package compute

import (
	"context"
	"slices"
	"strings"
	"time"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
)

// imagesOf returns the image of each instance.
func imagesOf(all []*ec2.Instance) []string {
	ids := make([]string, len(all))
	for n, i := range all {
		ids[n] = sdk.ToString(i.ImageId)
	}
	return ids
}

// askInstanceFacts adds the facts of a page of instances that other calls return: the data of their sizes, the events
// that AWS plans for them, and whether their images, in the same order, still exist. The calls run side by side, each
// for the whole page. AWS's description of the instances is the largest answer of all; it is not kept in memory until
// these calls have answered.
func askInstanceFacts(ctx context.Context, c ec2API, imageOf []string, found []cloud.Resource) {
	if len(found) == 0 {
		return
	}
	var sizes map[string]ec2.InstanceTypeInfo
	var events map[string][]string
	var images map[string]ec2.Image
	errs := make([]error, 3)
	cloud.InParallel(3, 3, func(i int) {
		switch i {
		case 0:
			sizes, errs[0] = describeSizes(ctx, c, found)
		case 1:
			events, errs[1] = plannedEvents(ctx, c)
		case 2:
			images, errs[2] = describeImages(ctx, c, imageOf)
		}
	})
	for n, r := range found {
		f := r.Facts
		if errs[0] != nil {
			resource.NoteMissing(f, errs[0], "ec2:DescribeInstanceTypes", "burstable", "gpu_count", "memory_gib",
				"vcpu")
		} else {
			addSize(f, sizes[r.InstanceType])
		}
		if errs[1] != nil {
			resource.NoteMissing(f, errs[1], "ec2:DescribeInstanceStatus", "retirement_events")
		} else {
			f["retirement_events"] = resource.SortTexts(events[r.UID])
		}
		if errs[2] != nil {
			resource.NoteMissing(f, errs[2], "ec2:DescribeImages", "image_created_at", "image_exists")
		} else {
			addImage(f, images, imageOf[n])
		}
	}
}

func describeSizes(ctx context.Context, c ec2API, all []cloud.Resource) (map[string]ec2.InstanceTypeInfo, error) {
	names := make([]ec2.InstanceType, len(all))
	for n, r := range all {
		names[n] = ec2.InstanceType(r.InstanceType)
	}
	slices.Sort(names)
	out := map[string]ec2.InstanceTypeInfo{}
	for part := range slices.Chunk(slices.Compact(names), 100) {
		got, err := c.DescribeInstanceTypes(ctx, &ec2.DescribeInstanceTypesInput{InstanceTypes: part})
		if err != nil {
			return nil, err
		}
		for _, t := range got.InstanceTypes {
			out[string(t.InstanceType)] = t
		}
	}
	return out, nil
}

func addSize(f cloud.Facts, t ec2.InstanceTypeInfo) {
	if t.VCpuInfo == nil || t.MemoryInfo == nil {
		return // a type that AWS no longer describes
	}
	f["vcpu"], f["memory_gib"] = resource.Count32(t.VCpuInfo.DefaultVCpus),
		float64(sdk.ToInt64(t.MemoryInfo.SizeInMiB))/1024
	f["burstable"], f["gpu_count"] = sdk.ToBool(t.BurstablePerformanceSupported), 0.0
	if t.GpuInfo != nil {
		sum := int32(0)
		for _, g := range t.GpuInfo.Gpus {
			sum += sdk.ToInt32(g.Count)
		}
		f["gpu_count"] = float64(sum)
	}
}

// eventCodes are the events that AWS plans for instances.
var eventCodes = []string{
	"instance-reboot", "instance-retirement", "instance-stop", "system-maintenance",
	"system-reboot",
}

// plannedEvents returns the codes of the current events of the region's instances. Few instances ever have one.
func plannedEvents(ctx context.Context, c ec2API) (map[string][]string, error) {
	out := map[string][]string{}
	in := &ec2.DescribeInstanceStatusInput{
		IncludeAllInstances: sdk.Bool(true), MaxResults: sdk.Int32(1000),
		Filters: []ec2.Filter{{Name: sdk.String("event.code"), Values: eventCodes}},
	}
	pages := wire.NewPages(c.DescribeInstanceStatus, in)
	for pages.HasMorePages() {
		got, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, s := range got.InstanceStatuses {
			for _, e := range s.Events {
				if !strings.HasPrefix(sdk.ToString(e.Description), "[Completed]") {
					id := sdk.ToString(s.InstanceId)
					out[id] = append(out[id], string(e.Code))
				}
			}
		}
	}
	return out, nil
}

func describeImages(ctx context.Context, c ec2API, all []string) (map[string]ec2.Image, error) {
	ids := slices.Sorted(slices.Values(all))
	out := map[string]ec2.Image{}
	for part := range slices.Chunk(slices.Compact(ids), resource.PerFilter) {
		got, err := c.DescribeImages(ctx, &ec2.DescribeImagesInput{
			IncludeDeprecated: sdk.Bool(true), Filters: []ec2.Filter{{Name: sdk.String("image-id"), Values: part}},
		})
		if err != nil {
			return nil, err
		}
		for _, i := range got.Images {
			out[sdk.ToString(i.ImageId)] = i
		}
	}
	return out, nil
}

func addImage(f cloud.Facts, images map[string]ec2.Image, id string) {
	i, there := images[id]
	if f["image_exists"] = there; !there {
		return
	}
	if at, err := time.Parse(time.RFC3339, sdk.ToString(i.CreationDate)); err == nil {
		f["image_created_at"] = at.UTC()
	}
}
