package details

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/resource"
	"lamplighter.dev/shared/cloud/aws/wire/cloudwatchlogs"
	"lamplighter.dev/shared/cloud/aws/wire/efs"
	"lamplighter.dev/shared/cloud/aws/wire/fsx"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
	"lamplighter.dev/shared/cloud/aws/wire/secretsmanager"
)

// fileSystems are file systems of EFS.
var fileSystems = resource.Detail{
	Types: []string{"aws-efs"}, Needs: []string{"elasticfilesystem:DescribeFileSystems"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byUID(found)
		err := resource.EachPage(ctx, efs.NewFromConfig(at.Cfg).DescribeFileSystems,
			&efs.DescribeFileSystemsInput{MaxItems: sdk.Int32(100)}, func(out *efs.DescribeFileSystemsOutput) {
				for _, f := range out.FileSystems {
					if r := all[sdk.ToString(f.FileSystemArn)]; r != nil {
						addFileSystem(r.Facts, f)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "elasticfilesystem:DescribeFileSystems", "encrypted", "mount_targets", "one_zone",
				"provisioned_mibps", "size_gb", "throughput_mode")
		}
	},
}

func addFileSystem(f cloud.Facts, of efs.FileSystemDescription) {
	f["mount_targets"], f["throughput_mode"] = float64(of.NumberOfMountTargets), string(of.ThroughputMode)
	f["one_zone"], f["provisioned_mibps"] = sdk.ToString(of.AvailabilityZoneName) != "",
		sdk.ToFloat64(of.ProvisionedThroughputInMibps)
	if of.Encrypted != nil {
		f["encrypted"] = *of.Encrypted
	}
	if of.SizeInBytes != nil {
		f["size_gb"] = float64(of.SizeInBytes.Value) / 1e9
	}
}

// windowsFileSystems are file systems of FSx: of Windows, Lustre, ONTAP and OpenZFS.
var windowsFileSystems = resource.Detail{
	Types: []string{"aws-fsx"}, Needs: []string{"fsx:DescribeFileSystems"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byUID(found)
		err := resource.EachPage(ctx, fsx.NewFromConfig(at.Cfg).DescribeFileSystems,
			&fsx.DescribeFileSystemsInput{MaxResults: sdk.Int32(100)}, func(out *fsx.DescribeFileSystemsOutput) {
				for _, f := range out.FileSystems {
					if r := all[sdk.ToString(f.ResourceARN)]; r != nil {
						addServer(r.Facts, f)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "fsx:DescribeFileSystems", "multi_az", "storage_gb", "throughput_mbps")
		}
	},
}

// addServer adds the facts of a file system. One of Lustre has no throughput of its own: it grows with the storage.
func addServer(f cloud.Facts, of fsx.FileSystem) {
	if of.StorageCapacity != nil {
		f["storage_gb"] = resource.Count32(of.StorageCapacity) * (1 << 30) / 1e9
	}
	deployment, throughput := "", (*int32)(nil)
	switch {
	case of.WindowsConfiguration != nil:
		c := of.WindowsConfiguration
		deployment, throughput = string(c.DeploymentType), c.ThroughputCapacity
	case of.OntapConfiguration != nil:
		c := of.OntapConfiguration
		deployment, throughput = string(c.DeploymentType), c.ThroughputCapacity
	case of.OpenZFSConfiguration != nil:
		c := of.OpenZFSConfiguration
		deployment, throughput = string(c.DeploymentType), c.ThroughputCapacity
	case of.LustreConfiguration != nil:
		deployment = string(of.LustreConfiguration.DeploymentType)
	}
	if deployment != "" {
		f["multi_az"] = strings.HasPrefix(deployment, "MULTI_AZ")
	}
	if throughput != nil {
		f["throughput_mbps"] = resource.Count32(throughput)
	}
}

// groupsPerCall is how many log groups a call may name.
const groupsPerCall = 50

var logGroups = resource.Detail{
	Types: []string{"aws-log-group"}, Needs: []string{"logs:DescribeLogGroups"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api := cloudwatchlogs.NewFromConfig(at.Cfg)
		parts := slices.Collect(slices.Chunk(found, groupsPerCall))
		resource.AskEach(len(parts), func(i int) { addLogGroups(ctx, api, parts[i]) })
	},
}

func addLogGroups(ctx context.Context, api *cloudwatchlogs.Client, found []*cloud.Resource) {
	all, in := map[string]*cloud.Resource{}, cloudwatchlogs.DescribeLogGroupsInput{}
	for _, r := range found {
		arn := strings.TrimSuffix(r.UID, ":*")
		all[arn], in.LogGroupIdentifiers = r, append(in.LogGroupIdentifiers, arn)
	}
	out, err := api.DescribeLogGroups(ctx, &in)
	if err != nil {
		noteUnread(found, err, "logs:DescribeLogGroups", "class", "retention_days", "stored_gb")
		return
	}
	for _, g := range out.LogGroups {
		if r := all[strings.TrimSuffix(sdk.ToString(g.Arn), ":*")]; r != nil {
			r.Facts["retention_days"] = resource.Count32(g.RetentionInDays) // none: for ever
			if g.StoredBytes != nil {
				r.Facts["stored_gb"] = float64(*g.StoredBytes) / 1e9
			}
			if g.LogGroupClass != "" {
				r.Facts["class"] = string(g.LogGroupClass)
			}
		}
	}
}

var secrets = resource.Detail{
	Types: []string{"aws-secret"}, Needs: []string{"secretsmanager:ListSecrets"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		all := byUID(found)
		err := resource.EachPage(ctx, secretsmanager.NewFromConfig(at.Cfg).ListSecrets,
			&secretsmanager.ListSecretsInput{MaxResults: sdk.Int32(100)}, func(out *secretsmanager.ListSecretsOutput) {
				for _, s := range out.SecretList {
					r := all[sdk.ToString(s.ARN)]
					if r == nil {
						continue
					}
					r.CreatedAt = s.CreatedDate.Value().UTC()
					r.Facts["rotation"], r.Facts["owning_service"] = sdk.ToBool(s.RotationEnabled),
						sdk.ToString(s.OwningService)
					if r.Facts["last_accessed_at"] = cloud.Epoch; s.LastAccessedDate != nil {
						r.Facts["last_accessed_at"] = s.LastAccessedDate.Value().UTC()
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "secretsmanager:ListSecrets", "last_accessed_at", "owning_service", "rotation")
		}
	},
}

// snapshots are snapshots of database instances. Those of clusters, which AWS lists apart, have no facts.
var snapshots = resource.Detail{
	Types: []string{"aws-rds-snapshot"}, Needs: []string{"rds:DescribeDBSnapshots", "rds:DescribeDBInstances"},
	Add: func(ctx context.Context, at resource.Place, found []*cloud.Resource) {
		api, all := rds.NewFromConfig(at.Cfg), byUID(found)
		sources := map[*cloud.Resource]string{}
		err := resource.EachPage(ctx, api.DescribeDBSnapshots,
			&rds.DescribeDBSnapshotsInput{MaxRecords: sdk.Int32(100)}, func(out *rds.DescribeDBSnapshotsOutput) {
				for _, s := range out.DBSnapshots {
					if r := all[sdk.ToString(s.DBSnapshotArn)]; r != nil {
						r.Facts["snapshot_type"] = sdk.ToString(s.SnapshotType)
						sources[r] = sdk.ToString(s.DBInstanceIdentifier)
					}
				}
			})
		if err != nil {
			noteUnread(found, err, "rds:DescribeDBSnapshots", "snapshot_type", "source_exists")
			return
		}
		addSources(ctx, api, sources)
	},
}

// addSources adds whether the instances that snapshots are of exist.
func addSources(ctx context.Context, api *rds.Client, sources map[*cloud.Resource]string) {
	there := map[string]bool{}
	err := resource.EachPage(ctx, api.DescribeDBInstances, &rds.DescribeDBInstancesInput{MaxRecords: sdk.Int32(100)},
		func(out *rds.DescribeDBInstancesOutput) {
			for _, i := range out.DBInstances {
				there[sdk.ToString(i.DBInstanceIdentifier)] = true
			}
		})
	for r, name := range sources {
		if err != nil {
			resource.NoteMissing(r.Facts, err, "rds:DescribeDBInstances", "source_exists")
			continue
		}
		r.Facts["source_exists"] = there[name]
	}
}
