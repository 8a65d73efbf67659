package settings

import (
	"context"
	"maps"
	"slices"

	"lamplighter.dev/shared/cloud"
)

const members = "NodeGroups.NodeGroup.NodeGroupMembers.NodeGroupMember"

const domainPath = "/2021-01-01/opensearch/domain/{name}"

// clusterKinds are caches, search domains and brokers.
func clusterKinds() []kind {
	group := call{op: "elasticache:ModifyReplicationGroup", in: params{
		"ReplicationGroupId": "{.ReplicationGroupId}", "ApplyImmediately": true,
	}}
	fewer := call{op: "elasticache:DecreaseReplicaCount", in: group.in}
	domain := func(keeps string) call {
		return call{
			op: "es:UpdateDomainConfig", http: "POST " + domainPath + "/config",
			in: params{keeps: "{was." + keeps + "}"},
		}
	}
	noMasters := domain("ClusterConfig")
	noMasters.in = params{
		"ClusterConfig.DedicatedMasterEnabled": false, "ClusterConfig.InstanceType": "{.ClusterConfig.InstanceType}",
		"ClusterConfig.InstanceCount": "{.ClusterConfig.InstanceCount}",
	}
	return []kind{
		{
			typeOf: "aws-elasticache", uid: "cluster:{name}", state: "Status", ready: "available",
			check: needsAllowedType,
			reads: []read{
				{
					call{op: "elasticache:DescribeCacheClusters", in: params{"CacheClusterId": "{name}"}},
					"CacheClusters.CacheCluster",
				},
				{
					call{op: "elasticache:DescribeReplicationGroups", in: params{
						"ReplicationGroupId": "{.ReplicationGroupId}",
					}, needs: "ReplicationGroupId"}, "ReplicationGroups.ReplicationGroup",
				},
			},
			values: []value{
				setBy(group, text("class", "CacheNodeType", "CacheNodeType")),
				switched(words(text("auto_failover", "AutomaticFailover", "AutomaticFailoverEnabled"), "enabled",
					"disabled"), map[string]call{
					"true":  withParam(group, "AutomaticFailoverEnabled", true),
					"false": withParam(group, "AutomaticFailoverEnabled", false),
				}),
				{
					Value: number("replicas", members, "NewReplicaCount"), less: &fewer, others: true,
					calls: map[string]call{"": {op: "elasticache:IncreaseReplicaCount", in: group.in}},
					limit: "the undo makes new replicas, in zones that AWS chooses",
				},
			},
		},
		{
			typeOf: "aws-opensearch", uid: "domain/{name}", state: "Processing", ready: "false",
			reads: []read{{
				call{op: "es:DescribeDomain", http: "GET " + domainPath}, "DomainStatus",
			}},
			values: []value{
				limited(setBy(domain("ClusterConfig"), text("class", "ClusterConfig.InstanceType",
					"ClusterConfig.InstanceType")), moved),
				limited(setBy(domain("EBSOptions"), text("volume_type", "EBSOptions.VolumeType",
					"EBSOptions.VolumeType")), moved),
				limited(setBy(domain("EBSOptions"), number("volume_gb", "EBSOptions.VolumeSize",
					"EBSOptions.VolumeSize")), moved),
				{
					Value: orElse(number("dedicated_masters", "ClusterConfig.DedicatedMasterCount",
						"ClusterConfig.DedicatedMasterCount"), "0"),
					when:  "ClusterConfig.DedicatedMasterEnabled",
					calls: map[string]call{"0": noMasters, "": domain("ClusterConfig")}, limit: moved,
				},
			},
		},
		{
			typeOf: "aws-msk", uid: "cluster/{name*}", state: "state", ready: "ACTIVE",
			reads: []read{{
				call{op: "kafka:DescribeCluster", http: "GET /v1/clusters/{arn}"}, "clusterInfo",
			}},
			values: []value{limited(setBy(call{
				op: "kafka:UpdateBrokerType", http: "PUT /v1/clusters/{arn}/nodes/type",
				in: params{"currentVersion": "{.currentVersion}"},
			}, text("broker_type", "brokerNodeGroupInfo.instanceType", "targetInstanceType")),
				"the brokers restart one after the other")},
		},
	}
}

const moved = "AWS moves the data to new nodes, which takes hours; the undo takes as long"

// withParam adds a parameter to a call.
func withParam(c call, path string, v any) call {
	in := params{path: v}
	maps.Copy(in, c.in)
	c.in = in
	return c
}

// needsAllowedType refuses a cache that is in no replication group, and a type that AWS does not offer for its group.
func needsAllowedType(ctx context.Context, k *change, d cloud.Description, set cloud.Values) error {
	doc, _, err := cloud.DecodeSnapshot[map[string]any](d.Native, "cache")
	switch {
	case err != nil:
		return err
	case textOf(find(doc, "ReplicationGroupId")) == "":
		return cloud.ErrUnsupported("it is in no replication group: change it by hand")
	case set["class"] == "":
		return nil
	}
	out, err := k.send(ctx, call{op: "elasticache:ListAllowedNodeTypeModifications", in: params{
		"ReplicationGroupId": "{.ReplicationGroupId}",
	}}, scope{k.parts, doc, doc})
	if err != nil {
		return err
	}
	for _, list := range []string{"ScaleUpModifications", "ScaleDownModifications"} {
		if slices.Contains(textsOf(find(map[string]any(out), list), ""), set["class"]) {
			return nil
		}
	}
	return cloud.ErrUnsupported("AWS does not change its replication group to %s", set["class"])
}
