package settings

import (
	"context"
	"regexp"
	"slices"

	"lamplighter.dev/shared/cloud"
)

// databaseKinds are relational databases, warehouses and their snapshots.
func databaseKinds() []kind {
	instance := call{op: "rds:ModifyDBInstance", in: params{"DBInstanceIdentifier": "{name}", "ApplyImmediately": true}}
	cluster := call{op: "rds:ModifyDBCluster", in: params{"DBClusterIdentifier": "{name}", "ApplyImmediately": true}}
	warehouse := call{op: "redshift:ModifyCluster", in: params{"ClusterIdentifier": "{.ClusterIdentifier}"}}
	replication := call{op: "dms:ModifyReplicationInstance", in: params{
		"ReplicationInstanceArn": "{arn}", "ApplyImmediately": true,
	}}
	return []kind{
		{
			typeOf: cloud.AWSRDS, verbs: []cloud.ChangeVerb{cloud.Resize}, uid: "db:{name}",
			state: "DBInstanceStatus", ready: "available storage-optimization", check: needsOfferedClass,
			reads: []read{{call{op: "rds:DescribeDBInstances", in: params{
				"Filters.Filter.1.Name": "db-instance-id", "Filters.Filter.1.Values.Value.1": "{name}",
			}}, "DBInstances.DBInstance"}},
			values: []value{
				setBy(instance, flag("multi_az", "MultiAZ", "MultiAZ")),
				limited(setBy(instance, text("class", "DBInstanceClass", "DBInstanceClass")),
					"the database restarts: its connections end, and it is unreachable for some minutes"),
			},
		},
		{
			typeOf: cloud.AWSAurora, uid: "cluster:{name}", state: "Status", ready: "available",
			reads: []read{{call{op: "rds:DescribeDBClusters", in: params{
				"Filters.Filter.1.Name": "db-cluster-id", "Filters.Filter.1.Values.Value.1": "{name}",
			}}, "DBClusters.DBCluster"}},
			values: []value{
				setBy(cluster, flag("deletion_protection", "DeletionProtection", "DeletionProtection")),
				limited(setBy(cluster, orElse(text("storage_type", "StorageType", "StorageType"), "aurora")),
					"AWS changes a cluster to aurora-iopt1 again only after 30 days"),
				setBy(withMaximum(cluster), number("serverless_min_acu",
					"ServerlessV2ScalingConfiguration.MinCapacity",
					"ServerlessV2ScalingConfiguration.MinCapacity")),
			},
		},
		{
			typeOf: "aws-rds-snapshot", verbs: []cloud.ChangeVerb{cloud.Guard}, uid: "snapshot:{name*}",
			reads: []read{{call{
				op: "rds:DescribeDBSnapshotAttributes",
				in: params{"DBSnapshotIdentifier": "{name}"},
			}, "DBSnapshotAttributesResult"}},
			values: []value{shared("DBSnapshotAttributes.DBSnapshotAttribute[AttributeName=restore]."+
				"AttributeValues.AttributeValue", "", map[string]call{
				"false": {op: "rds:ModifyDBSnapshotAttribute", in: params{
					"DBSnapshotIdentifier": "{name}", "AttributeName": "restore",
					"ValuesToRemove.AttributeValue.1": "all",
				}},
				"true": {op: "rds:ModifyDBSnapshotAttribute", in: params{
					"DBSnapshotIdentifier": "{name}", "AttributeName": "restore",
					"ValuesToAdd.AttributeValue.1": "all",
				}},
			})},
		},
		{
			typeOf: cloud.AWSRedshift, state: "ClusterStatus", ready: "available", uid: "namespace:{namespace}",
			reads: []read{{call{op: "redshift:DescribeClusters"}, "Clusters.Cluster[ClusterNamespaceArn={arn}]"}},
			values: []value{
				setBy(warehouse, orElse(number("manual_snapshot_days", "ManualSnapshotRetentionPeriod",
					"ManualSnapshotRetentionPeriod"), "-1")),
				limited(setBy(warehouse, flag("encrypted", "Encrypted", "Encrypted")),
					"AWS moves the data to another cluster, which takes hours; the undo takes as long"),
				limited(setBy(call{op: "redshift:ResizeCluster", in: params{
					"ClusterIdentifier": "{.ClusterIdentifier}", "Classic": false,
				}}, number("node_count", "NumberOfNodes", "NumberOfNodes")),
					"queries that run while AWS changes the cluster are ended"),
			},
		},
		{
			typeOf: "aws-redshift-serverless", uid: "workgroup/{id}", state: "status", ready: "AVAILABLE",
			reads: []read{{
				call{op: "redshift-serverless:ListWorkgroups", in: params{"maxResults": 100}},
				"workgroups[workgroupArn={arn}]",
			}},
			values: []value{setBy(call{
				op: "redshift-serverless:UpdateWorkgroup", in: params{"workgroupName": "{.workgroupName}"},
			}, number("base_rpu", "baseCapacity", "baseCapacity"))},
		},
		{
			typeOf: "aws-dms", uid: "rep:{name}", state: "ReplicationInstanceStatus", ready: "available",
			reads: []read{{call{op: "dms:DescribeReplicationInstances", in: params{
				"Filters": []any{map[string]any{"Name": "replication-instance-arn", "Values": []any{"{arn}"}}},
			}}, "ReplicationInstances"}},
			values: []value{
				setBy(replication, flag("multi_az", "MultiAZ", "MultiAZ")),
				limited(setBy(replication, text("class", "ReplicationInstanceClass", "ReplicationInstanceClass")),
					"tasks stop for some minutes while AWS changes the instance"),
			},
		},
	}
}

// shared is whether everybody may use a copy of data: whether a list has the text "all".
func shared(path, field string, calls map[string]call) value {
	return value{Value: text("public", path, ""), has: "all", field: field, calls: calls}
}

// withMaximum sends the present maximum beside a new minimum.
func withMaximum(c call) call {
	const maximum = "ServerlessV2ScalingConfiguration.MaxCapacity"
	return withParam(c, maximum, "{."+maximum+"}")
}

// className matches the classes of databases.
var className = regexp.MustCompile(`^db\.[a-z0-9.-]{3,40}$`)

// needsOfferedClass refuses a class that AWS does not offer for the engine, the version and the licence of a database.
func needsOfferedClass(ctx context.Context, k *change, d cloud.Description, set cloud.Values) error {
	class := set["class"]
	switch {
	case class == "" || class == d.Values["class"]:
		return nil
	case !className.MatchString(class):
		return cloud.ErrInvalid("class %.60q is no class of databases: give one as db.m7g.large", class)
	}
	doc, _, err := cloud.DecodeSnapshot[map[string]any](d.Native, "database")
	if err != nil {
		return err
	}
	out, err := k.send(ctx, call{op: "rds:DescribeOrderableDBInstanceOptions", in: params{
		"Engine": "{.Engine}", "EngineVersion": "{.EngineVersion}", "LicenseModel": "{.LicenseModel}",
		"DBInstanceClass": given{class},
	}}, scope{k.parts, doc, doc})
	if err != nil {
		return err
	}
	offers := textsOf(find(map[string]any(out), "OrderableDBInstanceOptions.OrderableDBInstanceOption"),
		"DBInstanceClass")
	if !slices.Contains(offers, class) {
		return cloud.ErrUnsupported("AWS does not offer %s for %s %s", class, textOf(find(doc, "Engine")),
			textOf(find(doc, "EngineVersion")))
	}
	return nil
}
