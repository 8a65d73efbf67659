package settings

import (
	"context"

	"lamplighter.dev/shared/cloud"
)

// tableKinds are tables, streams and queues.
func tableKinds() []kind {
	table := params{"TableName": "{name}"}
	units := call{op: "dynamodb:UpdateTable", in: params{
		"ProvisionedThroughput.ReadCapacityUnits":  "{.ProvisionedThroughput.ReadCapacityUnits}",
		"ProvisionedThroughput.WriteCapacityUnits": "{.ProvisionedThroughput.WriteCapacityUnits}",
	}}
	update := call{op: "dynamodb:UpdateTable"}
	backups := func(on bool) call {
		return call{op: "dynamodb:UpdateContinuousBackups", in: params{
			"TableName": "{name}", "PointInTimeRecoverySpecification.PointInTimeRecoveryEnabled": on,
		}}
	}
	return []kind{
		{
			typeOf: "aws-dynamodb", uid: "table/{name}", state: "TableStatus", ready: "ACTIVE", check: needsNoIndexes,
			reads: []read{
				{call: call{op: "dynamodb:DescribeTable", in: table}, at: "Table"},
				{
					call{op: "dynamodb:DescribeContinuousBackups", in: table},
					"ContinuousBackupsDescription",
				},
			},
			values: []value{
				setBy(named(update), flag("deletion_protection", "DeletionProtectionEnabled",
					"DeletionProtectionEnabled")),
				limited(setBy(named(update), orElse(text("table_class", "TableClassSummary.TableClass", "TableClass"),
					"STANDARD")), "AWS changes the class of a table at most twice in 30 days"),
				limited(setBy(named(units), number("rcu", "ProvisionedThroughput.ReadCapacityUnits",
					"ProvisionedThroughput.ReadCapacityUnits")), fewerUnits),
				setBy(named(units), number("wcu", "ProvisionedThroughput.WriteCapacityUnits",
					"ProvisionedThroughput.WriteCapacityUnits")),
				limited(switched(orElse(text("billing_mode", "BillingModeSummary.BillingMode", "BillingMode"),
					"PROVISIONED"), map[string]call{
					"PAY_PER_REQUEST": named(call{op: update.op, in: params{"BillingMode": "PAY_PER_REQUEST"}}),
					"PROVISIONED": named(call{op: update.op, in: params{
						"BillingMode": "PROVISIONED",
						"ProvisionedThroughput.ReadCapacityUnits":  "{was.ProvisionedThroughput.ReadCapacityUnits}",
						"ProvisionedThroughput.WriteCapacityUnits": "{was.ProvisionedThroughput.WriteCapacityUnits}",
					}}),
				}), "AWS limits how often a table is switched to on-demand in 24 hours"),
				switched(words(text("pitr", "PointInTimeRecoveryDescription.PointInTimeRecoveryStatus", ""), "ENABLED",
					"DISABLED"), map[string]call{"true": backups(true), "false": backups(false)}),
			},
		},
		{
			typeOf: "aws-kinesis", uid: "stream/{name}", state: "StreamStatus", ready: "ACTIVE",
			reads: []read{{
				call{op: "kinesis:DescribeStreamSummary", in: params{"StreamName": "{name}"}},
				"StreamDescriptionSummary",
			}},
			values: []value{
				{
					Value: number("retention_hours", "RetentionPeriodHours", "RetentionPeriodHours"),
					calls: map[string]call{"": {
						op: "kinesis:IncreaseStreamRetentionPeriod", in: params{"StreamName": "{name}"},
					}},
					less: &call{
						op: "kinesis:DecreaseStreamRetentionPeriod", in: params{"StreamName": "{name}"},
					},
					limit: "records that are older than the new retention are deleted for good",
				},
				limited(setBy(call{op: "kinesis:UpdateShardCount", in: params{
					"StreamName": "{name}", "ScalingType": "UNIFORM_SCALING",
				}}, number("shards", "OpenShardCount", "TargetShardCount")),
					"AWS changes the number of shards at most 10 times in 24 hours"),
			},
		},
		{
			typeOf: "aws-sqs", uid: "{name}", reads: []read{
				{call{op: "sqs:GetQueueUrl", in: params{"QueueName": "{name}"}}, ""},
				{call{op: "sqs:GetQueueAttributes", in: params{
					"QueueUrl": "{.QueueUrl}", "AttributeNames": []any{"All"},
				}}, "Attributes"},
			},
			values: []value{setBy(call{op: "sqs:SetQueueAttributes", in: params{"QueueUrl": "{.QueueUrl}"}},
				text("wait_seconds", "ReceiveMessageWaitTimeSeconds", "Attributes.ReceiveMessageWaitTimeSeconds"))},
		},
	}
}

const fewerUnits = "AWS lowers the units of a table only some times in a day"

// named adds the name of the table to a call.
func named(c call) call { return withParam(c, "TableName", "{name}") }

// needsNoIndexes refuses another billing mode for a table with indexes: each of them has units of its own.
func needsNoIndexes(_ context.Context, _ *change, d cloud.Description, set cloud.Values) error {
	doc, _, err := cloud.DecodeSnapshot[map[string]any](d.Native, "table")
	if err == nil && set["billing_mode"] != "" && len(listOf(find(doc, "GlobalSecondaryIndexes"))) > 0 {
		return cloud.ErrUnsupported("its global indexes have units of their own: change its billing mode by hand")
	}
	return err
}
