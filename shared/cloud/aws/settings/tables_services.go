package settings

import (
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// serviceKinds are the other services.
func serviceKinds() []kind {
	key := params{"KeyId": "{arn}"}
	balancer := call{op: "elasticloadbalancing:ModifyLoadBalancerAttributes", in: params{
		"LoadBalancerArn": "{arn}", "Attributes.member.1.Key": "deletion_protection.enabled",
	}}
	breaker := func(enable, rollback any) call {
		return call{op: "ecs:UpdateService", in: params{
			"cluster": "{cluster}", "service": "{name}", "deploymentConfiguration": "{was.deploymentConfiguration}",
			"deploymentConfiguration.deploymentCircuitBreaker.enable":   enable,
			"deploymentConfiguration.deploymentCircuitBreaker.rollback": rollback,
		}}
	}
	desktop := call{op: "workspaces:ModifyWorkspaceProperties", in: params{"WorkspaceId": "{name}"}}
	cache := func(operations ...any) call {
		return call{
			op: "apigateway:UpdateStage", iam: "apigateway:PATCH", http: "PATCH /restapis/{api}/stages/{stage}",
			in: params{"patchOperations": operations},
		}
	}
	enabled := func(on string) any {
		return map[string]any{"op": "replace", "path": "/cacheClusterEnabled", "value": on}
	}
	return []kind{
		{
			typeOf: "aws-elb", uid: "loadbalancer/{family}/{name}/{number}", verbs: []cloud.ChangeVerb{cloud.Guard},
			reads: []read{{call: call{
				op: "elasticloadbalancing:DescribeLoadBalancerAttributes", in: params{"LoadBalancerArn": "{arn}"},
			}}},
			values: []value{setBy(balancer, text("deletion_protection",
				"Attributes[Key=deletion_protection.enabled].Value", "Attributes.member.1.Value"))},
		},
		{
			typeOf: "aws-kms-key", uid: "key/{name}",
			reads: []read{{call: call{op: "kms:GetKeyRotationStatus", in: key}}},
			values: []value{switched(flag("rotation", "KeyRotationEnabled", ""), map[string]call{
				"true":  {op: "kms:EnableKeyRotation", in: key},
				"false": {op: "kms:DisableKeyRotation", in: key},
			})},
		},
		{
			typeOf: "aws-cloudtrail", uid: "trail/{name}", reads: []read{{
				call: call{op: "cloudtrail:GetTrail", in: params{"Name": "{arn}"}}, at: "Trail",
			}},
			values: []value{setBy(call{op: "cloudtrail:UpdateTrail", in: params{"Name": "{arn}"}},
				flag("log_validation", "LogFileValidationEnabled", "EnableLogFileValidation"))},
		},
		{
			typeOf: "aws-config-recorder", uid: "configuration-recorder/{name}/{number}", reads: []read{{
				call: call{op: "config:DescribeConfigurationRecorders", in: params{
					"ConfigurationRecorderNames": []any{"{name}"},
				}}, at: "ConfigurationRecorders",
			}},
			values: []value{limited(switched(orElse(words(text("continuous", "recordingMode.recordingFrequency", ""),
				"CONTINUOUS", "DAILY"), "true"), map[string]call{
				"true": recorder("CONTINUOUS"), "false": recorder("DAILY"),
			}), "changes between two daily records are not recorded")},
		},
		{
			typeOf: cloud.AWSECS, uid: "service/{cluster}/{name}", verbs: []cloud.ChangeVerb{cloud.Guard},
			state: "status", ready: "ACTIVE", reads: []read{{
				call: call{op: "ecs:DescribeServices", in: params{"cluster": "{cluster}", "services": []any{"{name}"}}},
				at:   "services",
			}},
			values: []value{switched(orElse(flag("circuit_breaker",
				"deploymentConfiguration.deploymentCircuitBreaker.enable", ""), "false"), map[string]call{
				"true":  breaker(true, true),
				"false": breaker(false, "{was.deploymentConfiguration.deploymentCircuitBreaker.rollback}"),
			})},
		},
		{
			typeOf: cloud.AWSWorkSpace, uid: "workspace/{name}", state: "State", ready: "AVAILABLE STOPPED",
			reads: []read{{
				call: call{op: "workspaces:DescribeWorkspaces", in: params{"WorkspaceIds": []any{"{name}"}}},
				at:   "Workspaces",
			}},
			values: []value{limited(switched(text("running_mode", "WorkspaceProperties.RunningMode",
				"WorkspaceProperties.RunningMode"), map[string]call{
				"": desktop, "AUTO_STOP": {op: desktop.op, in: params{
					"WorkspaceId": "{name}", "WorkspaceProperties.RunningMode": "AUTO_STOP",
					"WorkspaceProperties.RunningModeAutoStopTimeoutInMinutes": "{was.WorkspaceProperties." +
						"RunningModeAutoStopTimeoutInMinutes}",
				}},
			}), "AWS bills the month by the mode that it began with, where that costs more")},
		},
		{
			typeOf: "aws-eks", uid: "cluster/{name}", state: "status", ready: "ACTIVE", reads: []read{{
				call: call{op: "eks:DescribeCluster", http: "GET /clusters/{name}"}, at: "cluster",
			}},
			values: []value{{
				Value: text("log_types", "logging.clusterLogging[enabled=true].types", "logging.clusterLogging"),
				texts: true, empty: true, made: clusterLogs, calls: map[string]call{
					"": {op: "eks:UpdateClusterConfig", http: "POST /clusters/{name}/update-config"},
					none: {
						op: "eks:UpdateClusterConfig", http: "POST /clusters/{name}/update-config",
						in: params{"logging.clusterLogging": clusterLogs("")},
					},
				},
			}},
		},
		{
			typeOf: "aws-apigateway", uid: "/restapis/{api}/stages/{stage}", reads: []read{{
				call: call{
					op: "apigateway:GetStage", iam: "apigateway:GET", http: "GET /restapis/{api}/stages/{stage}",
				},
			}},
			values: []value{limited(value{
				Value: orElse(text("cache_gb", "cacheClusterSize", ""), "0"), when: "cacheClusterEnabled",
				calls: map[string]call{
					"0": cache(enabled("false")),
					"": cache(enabled("true"), map[string]any{
						"op": "replace", "path": "/cacheClusterSize", "value": "{was.cacheClusterSize}",
					}),
				},
			}, "the cached answers are lost")},
		},
		jobs(),
	}
}

// logTypes are the logs that a cluster of EKS can write.
var logTypes = []string{"api", "audit", "authenticator", "controllerManager", "scheduler"}

// clusterLogs switches the logs of a list on, and the others off.
func clusterLogs(text string) any {
	on, off := []any{}, []any{}
	for _, one := range logTypes {
		if slices.Contains(strings.Split(text, ","), one) {
			on = append(on, one)
		} else {
			off = append(off, one)
		}
	}
	out := []any{}
	if len(on) > 0 {
		out = append(out, map[string]any{"types": on, "enabled": true})
	}
	if len(off) > 0 {
		out = append(out, map[string]any{"types": off, "enabled": false})
	}
	return out
}

func recorder(frequency string) call {
	return call{op: "config:PutConfigurationRecorder", in: params{
		"ConfigurationRecorder.name": "{.name}", "ConfigurationRecorder.roleARN": "{.roleARN}",
		"ConfigurationRecorder.recordingGroup":                       "{.recordingGroup}",
		"ConfigurationRecorder.recordingMode.recordingModeOverrides": "{.recordingMode.recordingModeOverrides}",
		"ConfigurationRecorder.recordingMode.recordingFrequency":     frequency,
	}}
}

// jobFields are the fields of a job that an update takes: AWS replaces the whole definition by them.
var jobFields = []string{
	"JobMode", "JobRunQueuingEnabled", "Description", "LogUri", "Role", "ExecutionProperty", "Command",
	"DefaultArguments", "NonOverridableArguments", "Connections", "MaxRetries", "Timeout", "WorkerType",
	"NumberOfWorkers", "SecurityConfiguration", "NotificationProperty", "GlueVersion", "CodeGenConfigurationNodes",
	"ExecutionClass", "SourceControlDetails", "MaintenanceWindow",
}

func jobs() kind {
	update := call{op: "glue:UpdateJob", in: params{"JobName": "{name}"}}
	for _, field := range jobFields {
		update.in["JobUpdate."+field] = "{." + field + "}"
	}
	return kind{
		typeOf: "aws-glue-job", uid: "job/{name*}", reads: []read{{
			call: call{op: "glue:GetJob", in: params{"JobName": "{name}"}}, at: "Job",
		}},
		values: []value{
			setBy(update, number("workers", "NumberOfWorkers", "JobUpdate.NumberOfWorkers")),
			setBy(update, orElse(text("execution_class", "ExecutionClass", "JobUpdate.ExecutionClass"), "STANDARD")),
		},
	}
}
