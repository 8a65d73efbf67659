package databases

import (
	"context"
	"maps"
	"strconv"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
)

// DatabaseChanges sets values of RDS instances that take no downtime.
var DatabaseChanges = resource.Changer{
	Type: cloud.AWSRDS, Open: func(at resource.Place) cloud.Changeable {
		return &databaseChange{rds.NewFromConfig(at.Cfg)}
	},
}

type databaseChange struct{ api *rds.Client }

// nameOf returns the name at the end of an ARN of RDS: …:db:shop.
func nameOf(uid string) string { return uid[strings.LastIndex(uid, ":")+1:] }

// Describe reads the values of an instance.
func (k *databaseChange) Describe(ctx context.Context, uid, _ string) (cloud.Description, error) {
	out, err := k.api.DescribeDBInstances(ctx, &rds.DescribeDBInstancesInput{
		Filters: []rds.Filter{{Name: sdk.String("db-instance-id"), Values: []string{nameOf(uid)}}},
	})
	if err != nil {
		return cloud.Description{}, resource.ClassifyError(err)
	}
	if len(out.DBInstances) == 0 {
		return cloud.Description{}, cloud.ErrNotFound("database %s is gone", uid)
	}
	db := out.DBInstances[0]
	d := cloud.Description{Values: cloud.Values{
		cloud.ExistsValue: "true", "multi_az": flagText(db.MultiAZ),
		"auto_minor":          flagText(db.AutoMinorVersionUpgrade),
		"deletion_protection": flagText(db.DeletionProtection),
		"backup_days":         resource.TextOf(db.BackupRetentionPeriod),
		"insights_days":       resource.TextOf(db.PerformanceInsightsRetentionPeriod),
		"storage_type":        sdk.ToString(db.StorageType), "iops": resource.TextOf(db.Iops),
		"max_allocated_gb": resource.TextOf(db.MaxAllocatedStorage),
		allocatedValue:     resource.TextOf(db.AllocatedStorage),
	}}
	if s := sdk.ToString(db.DBInstanceStatus); s != "available" && s != "storage-optimization" {
		d.Busy = "the database is " + s + ": it is changed only while it is available"
	}
	return d, nil
}

// allocatedValue is the allocated storage in GiB, which no change sets.
const allocatedValue = "allocated_gb"

func flagText(b *bool) string { return strconv.FormatBool(sdk.ToBool(b)) }

// Complete replaces carried IOPS: those that the database has now, or none if the new type has them by itself.
func (k *databaseChange) Complete(_ context.Context, d cloud.Description, want cloud.Values) (cloud.Values, []string,
	error,
) {
	set := maps.Clone(want)
	if set["iops"] == cloud.Carried {
		set["iops"] = d.Values["iops"]
	}
	for _, name := range []string{"iops", "backup_days", "insights_days", "max_allocated_gb"} {
		if _, err := resource.NumberOf(set[name]); err != nil {
			return nil, nil, err
		}
	}
	var limits []string
	if set["storage_type"] != "" || set["iops"] != "" {
		limits = []string{"storage can be changed again after 6 hours"}
	}
	if set["backup_days"] != "" {
		limits = append(limits, "backups that are older than the new retention are deleted for good")
	}
	return set, limits, nil
}

// Set changes values at once. Without a limit of its storage, a database gets its present size as limit, which AWS
// takes as none.
func (k *databaseChange) Set(ctx context.Context, d cloud.Description, c cloud.ChangeCall) error {
	in := &rds.ModifyDBInstanceInput{DBInstanceIdentifier: sdk.String(nameOf(c.UID)), ApplyImmediately: sdk.Bool(true)}
	for name, to := range map[string]**bool{
		"multi_az": &in.MultiAZ, "auto_minor": &in.AutoMinorVersionUpgrade,
		"deletion_protection": &in.DeletionProtection,
	} {
		if text, sets := c.Set[name]; sets {
			*to = sdk.Bool(text == "true")
		}
	}
	numbers := maps.Clone(c.Set)
	if limit, sets := c.Set["max_allocated_gb"]; sets && limit == "" {
		numbers["max_allocated_gb"] = d.Values[allocatedValue]
	}
	for name, to := range map[string]**int32{
		"backup_days": &in.BackupRetentionPeriod, "insights_days": &in.PerformanceInsightsRetentionPeriod,
		"iops": &in.Iops, "max_allocated_gb": &in.MaxAllocatedStorage,
	} {
		n, err := resource.NumberOf(numbers[name])
		if err != nil {
			return err
		}
		*to = n
	}
	in.StorageType = resource.OptionalString(c.Set["storage_type"])
	_, err := k.api.ModifyDBInstance(resource.WriteOnce(ctx), in)
	return resource.ClassifyError(err)
}
