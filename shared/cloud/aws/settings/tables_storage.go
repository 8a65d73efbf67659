package settings

// storageKinds are file systems, registries and logs.
func storageKinds() []kind {
	files := "/2015-02-01/file-systems/{name}"
	update := call{op: "elasticfilesystem:UpdateFileSystem", http: "PUT " + files}
	lifecycle := func(policies any) call {
		return call{
			op: "elasticfilesystem:PutLifecycleConfiguration", http: "PUT " + files + "/lifecycle-configuration",
			in: params{"LifecyclePolicies": policies},
		}
	}
	backup := func(status string) call {
		return call{
			op: "elasticfilesystem:PutBackupPolicy", http: "PUT " + files + "/backup-policy",
			in: params{"BackupPolicy.Status": status},
		}
	}
	return []kind{
		{
			typeOf: "aws-efs", uid: "file-system/{name}", state: "LifeCycleState", ready: "available",
			reads: []read{
				{call: call{
					op:   "elasticfilesystem:DescribeFileSystems",
					http: "GET /2015-02-01/file-systems?FileSystemId={name}",
				}, at: "FileSystems"},
				{call: call{
					op:   "elasticfilesystem:DescribeLifecycleConfiguration",
					http: "GET " + files + "/lifecycle-configuration",
				}},
				{call: call{
					op: "elasticfilesystem:DescribeBackupPolicy", http: "GET " + files + "/backup-policy",
					none: "PolicyNotFound",
				}},
			},
			values: []value{
				limited(switched(text("throughput_mode", "ThroughputMode", "ThroughputMode"), map[string]call{
					"": update, "provisioned": {op: update.op, http: update.http, in: params{
						"ThroughputMode":               "provisioned",
						"ProvisionedThroughputInMibps": "{was.ProvisionedThroughputInMibps}",
					}},
				}), "AWS changes the mode again only after 24 hours, so the undo may have to wait"),
				limited(value{
					Value: text("lifecycle", "LifecyclePolicies", ""), present: true, calls: map[string]call{
						"true":  lifecycle([]any{map[string]any{"TransitionToIA": "AFTER_30_DAYS"}}),
						"false": lifecycle([]any{}),
					},
				}, "files that were moved to the infrequent access class stay there, and reads of them are billed"),
				switched(orElse(words(text("backup", "BackupPolicy.Status", ""), "ENABLED", "DISABLED"), "false"),
					map[string]call{"true": backup("ENABLED"), "false": backup("DISABLED")}),
			},
		},
		{
			typeOf: "aws-ecr", uid: "repository/{name*}", reads: []read{
				{
					call: call{op: "ecr:DescribeRepositories", in: params{"repositoryNames": []any{"{name}"}}},
					at:   "repositories",
				},
				{call: call{
					op: "ecr:GetLifecyclePolicy", in: params{"repositoryName": "{name}"},
					none: "LifecyclePolicyNotFoundException",
				}},
			},
			values: []value{
				setBy(call{op: "ecr:PutImageScanningConfiguration", in: params{"repositoryName": "{name}"}},
					flag("scan_on_push", scanning, scanning)),
				limited(value{
					Value: text("lifecycle", "lifecyclePolicyText", ""), present: true, calls: map[string]call{
						"true": {op: "ecr:PutLifecyclePolicy", in: params{
							"repositoryName": "{name}", "lifecyclePolicyText": oldUntagged,
						}},
						"false": {op: "ecr:DeleteLifecyclePolicy", in: params{"repositoryName": "{name}"}},
					},
				}, "images without a tag that are older than 30 days are deleted for good, within 24 hours"),
			},
		},
		{
			typeOf: "aws-log-group", uid: "log-group:{name*}", reads: []read{{
				call: call{op: "logs:DescribeLogGroups", in: params{"logGroupNamePrefix": "{name}"}},
				at:   "logGroups[logGroupName={name}]",
			}},
			values: []value{limited(switched(orElse(
				number("retention_days", "retentionInDays", "retentionInDays"), "0"),
				map[string]call{
					"":  {op: "logs:PutRetentionPolicy", in: params{"logGroupName": "{name}"}},
					"0": {op: "logs:DeleteRetentionPolicy", in: params{"logGroupName": "{name}"}},
				}), "events that are older than the new retention are deleted for good, within some days")},
		},
	}
}

const scanning = "imageScanningConfiguration.scanOnPush"

// oldUntagged is the lifecycle policy of a repository that has none.
const oldUntagged = `{"rules":[{"rulePriority":1,"description":"Untagged images of more than 30 days",` +
	`"selection":{"tagStatus":"untagged","countType":"sinceImagePushed","countUnit":"days","countNumber":30},` +
	`"action":{"type":"expire"}}]}`
