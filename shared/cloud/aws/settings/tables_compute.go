package settings

import "lamplighter.dev/shared/cloud"

const instanceAt = "reservationSet.instancesSet"

// computeKinds are instances, their images and snapshots, groups and functions.
func computeKinds() []kind {
	instance := read{call: call{op: "ec2:DescribeInstances", in: params{"InstanceId.1": "{id}"}}, at: instanceAt}
	resume := call{op: "autoscaling:ResumeProcesses", in: params{"AutoScalingGroupName": "{name}"}}
	return []kind{
		{
			typeOf: cloud.AWSEC2, reads: []read{instance}, verbs: []cloud.ChangeVerb{cloud.Setting},
			values: []value{switched(text("monitoring", "monitoring.state", ""), map[string]call{
				"disabled": {op: "ec2:UnmonitorInstances", in: params{"InstanceId.1": "{id}"}},
				"enabled":  {op: "ec2:MonitorInstances", in: params{"InstanceId.1": "{id}"}},
			})},
		},
		{
			typeOf: cloud.AWSEC2, reads: []read{instance}, verbs: []cloud.ChangeVerb{cloud.Guard},
			check: needsNoOldTokens, values: []value{setBy(call{
				op: "ec2:ModifyInstanceMetadataOptions", in: params{"InstanceId": "{id}"},
			}, text("imds_tokens", "metadataOptions.httpTokens", "HttpTokens"))},
		},
		{
			typeOf: cloud.AWSEC2, reads: []read{instance}, verbs: []cloud.ChangeVerb{cloud.Resize},
			check: needsResizable, values: []value{limited(setBy(call{
				op: "ec2:ModifyInstanceAttribute", in: params{"InstanceId": "{id}"},
			}, text("class", "instanceType", "InstanceType.Value")), "AWS may lack capacity for the type before")},
		},
		{
			typeOf: "aws-ebs-snapshot", verbs: []cloud.ChangeVerb{cloud.Guard}, uid: "snapshot/{name}",
			reads: []read{{call: call{op: "ec2:DescribeSnapshotAttribute", in: params{
				"SnapshotId": "{name}", "Attribute": "createVolumePermission",
			}}}},
			values: []value{shared("createVolumePermission", "group", map[string]call{
				"false": {op: "ec2:ModifySnapshotAttribute", in: params{
					"SnapshotId": "{name}", "Attribute": "createVolumePermission", "OperationType": "remove",
					"UserGroup.1": "all",
				}},
				"true": {op: "ec2:ModifySnapshotAttribute", in: params{
					"SnapshotId": "{name}", "Attribute": "createVolumePermission", "OperationType": "add",
					"UserGroup.1": "all",
				}},
			})},
		},
		{
			typeOf: "aws-ami", verbs: []cloud.ChangeVerb{cloud.Guard}, uid: "image/{name}",
			reads: []read{{call: call{op: "ec2:DescribeImageAttribute", in: params{
				"ImageId": "{name}", "Attribute": "launchPermission",
			}}}},
			values: []value{shared("launchPermission", "group", map[string]call{
				"false": {op: "ec2:ModifyImageAttribute", in: params{
					"ImageId": "{name}", "LaunchPermission.Remove.1.Group": "all",
				}},
				"true": {op: "ec2:ModifyImageAttribute", in: params{
					"ImageId": "{name}", "LaunchPermission.Add.1.Group": "all",
				}},
			})},
		},
		{
			typeOf: cloud.AWSASG, verbs: []cloud.ChangeVerb{cloud.Guard},
			uid: "autoScalingGroup:{group}:autoScalingGroupName/{name*}",
			reads: []read{{
				call: call{
					op: "autoscaling:DescribeAutoScalingGroups", in: params{"AutoScalingGroupNames.member.1": "{name}"},
				}, at: "AutoScalingGroups",
			}},
			values: []value{{
				Value: text("suspended", "SuspendedProcesses", "ScalingProcesses.member"), field: "ProcessName",
				empty: true, calls: map[string]call{
					none: resume, "": {op: "autoscaling:SuspendProcesses", in: resume.in},
				},
			}},
		},
		functions(),
	}
}

func functions() kind {
	path := "/2015-03-31/functions/{name}/configuration"
	configure := call{op: "lambda:UpdateFunctionConfiguration", http: "PUT " + path}
	return kind{
		typeOf: cloud.AWSLambda, uid: "function:{name}", state: "LastUpdateStatus", ready: "Successful",
		reads: []read{
			{call: call{op: "lambda:GetFunctionConfiguration", http: "GET " + path}},
			{call: call{
				op: "lambda:GetFunctionConcurrency", http: "GET /2019-09-30/functions/{name}/concurrency",
			}},
		},
		values: []value{
			limited(setBy(configure, number("memory_mb", "MemorySize", "MemorySize")), latestOnly),
			limited(setBy(configure,
				orElse(number("ephemeral_mb", "EphemeralStorage.Size", "EphemeralStorage.Size"), "512")), latestOnly),
			limited(setBy(configure, number("timeout_s", "Timeout", "Timeout")), latestOnly),
			switched(orElse(number(
				"reserved_concurrency", "ReservedConcurrentExecutions", "ReservedConcurrentExecutions",
			), "none"), map[string]call{
				"": {
					op: "lambda:PutFunctionConcurrency", http: "PUT /2017-10-31/functions/{name}/concurrency",
				},
				"none": {
					op: "lambda:DeleteFunctionConcurrency", http: "DELETE /2017-10-31/functions/{name}/concurrency",
				},
			}),
		},
	}
}

const latestOnly = "published versions keep their values: only $LATEST is changed"
