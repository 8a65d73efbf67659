package stacks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/iampolicy"
)

// objects are examples of objects in the buckets, by what they are.
var objects = map[string]string{
	"archived": "ArchiveArn/org_1/audit/2026-03.gz", "upload": "ArchiveArn/org_1/uploads/bill",
	"export": "ArchiveArn/org_1/exports/file", "line items": "LineItemsArn/org_1/part-0.parquet",
	"answer": "LineItemsArn/answers/1.csv", "anchor": "AnchorsArn/nights/2026-03-10.jws",
}

// objectRights are the rights on objects by function: the verb and what it is about. No other function has any.
var objectRights = map[string][]string{
	"archiver": {
		"Delete answer", "Delete archived", "Delete export", "Delete line items", "Delete upload", "Put archived",
		"Put export", "Put upload",
	},
	"auditanchor": {"Get anchor", "Put anchor"},
	"billingsync": {
		"Delete answer", "Delete line items", "Delete upload", "Get answer", "Get line items", "Get upload",
		"Put answer", "Put line items",
	},
	"exporter":    {"Delete export", "Get answer", "Get line items", "Put export"},
	"links":       {"Get export", "Put upload"},
	"queryrunner": {"Get answer", "Get line items", "Put answer"},
}

// TestIAM_EachFunctionReachesItsOwnObjects evaluates each function's policies for each kind of object.
func TestIAM_EachFunctionReachesItsOwnObjects(t *testing.T) {
	each(t, func(id identity) {
		for what, key := range objects {
			for _, verb := range []string{"Get", "Put", "Delete"} {
				id.check(slices.Contains(objectRights[id.function.Name], verb+" "+what),
					iampolicy.Request{Action: "s3:" + verb + "Object", Resource: key})
			}
			for _, action := range []string{
				"s3:DeleteObjectVersion", "s3:PutObjectRetention", "s3:PutObjectLegalHold",
				"s3:BypassGovernanceRetention", "s3:PutObjectAcl",
			} {
				id.check(false, iampolicy.Request{Action: action, Resource: key})
			}
		}
		for _, bucket := range []string{"ArchiveArn", "LineItemsArn", "AnchorsArn"} {
			for _, action := range []string{
				"s3:DeleteBucket", "s3:PutBucketPolicy", "s3:PutBucketObjectLockConfiguration",
				"s3:PutLifecycleConfiguration",
			} {
				id.check(false, iampolicy.Request{Action: action, Resource: bucket})
			}
		}
	})
}

// The keys of access tokens sign for the functions that issue tokens, and the keys of anchors for auditanchor.
func TestIAM_FewFunctionsSign(t *testing.T) {
	const key = "arn:aws:kms:eu-west-1:123456789012:key/signs"
	signers := map[string][]string{"lamplighter-tokens": {"auth", "sso"}, "lamplighter-anchors": {"auditanchor"}}
	each(t, func(id identity) {
		for tag, names := range signers {
			for stage, want := range map[string]bool{"prod": slices.Contains(names, id.function.Name), "dev": false} {
				id.check(want, iampolicy.Request{Action: "kms:Sign", Resource: key, Context: map[string][]string{
					"aws:ResourceTag/" + tag: {stage},
				}})
			}
		}
		id.check(false, iampolicy.Request{Action: "kms:Sign", Resource: key})
		for _, action := range []string{"kms:PutKeyPolicy", "kms:CreateGrant", "kms:ScheduleKeyDeletion"} {
			id.check(false, iampolicy.Request{Action: action, Resource: key, Context: map[string][]string{
				"aws:ResourceTag/lamplighter-tokens": {"prod"}, "aws:ResourceTag/lamplighter-anchors": {"prod"},
			}})
		}
	})
}

// Functions add to the queue of dead letters, SAM's destination of failed calls, and read no queue.
func TestIAM_FunctionsReadNoQueue(t *testing.T) {
	each(t, func(id identity) {
		id.check(false, iampolicy.Request{Action: "sqs:SendMessage", Resource: "StoppedExecutionsArn"})
		for _, action := range []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:PurgeQueue"} {
			id.check(false, iampolicy.Request{Action: action, Resource: "DeadLettersArn"})
		}
	})
}

// evaluated are the services whose rights the tests of this package evaluate for each function.
var evaluated = []string{"dynamodb", "kms", "lambda", "s3", "secretsmanager", "sqs", "states", "sts"}

// otherRights are the rights of other services, by function. No other function has any.
var otherRights = map[string][]string{
	"mailer": {"ses:SendEmail", "ses:SendRawEmail"},
	"queryrunner": {
		"athena:GetQueryExecution", "athena:GetQueryResults", "athena:StartQueryExecution", "glue:GetDatabase",
		"glue:GetPartitions", "glue:GetTable",
	},
}

// TestIAM_RightsAreNamed finds rights that the other tests would not think of: those of other services, and wildcards.
func TestIAM_RightsAreNamed(t *testing.T) {
	each(t, func(id identity) {
		var others []string
		for _, s := range id.statements {
			text := fmt.Sprintf("%s, as %s has it: %+v", id.function.Name, id.form, s)
			if s.Effect != "Allow" || len(s.NotAction)+len(s.NotResource) > 0 || slices.Contains(s.Resource, "*") {
				t.Errorf("%s does not name its resources", text)
			}
			for _, action := range s.Action {
				service, verb, _ := strings.Cut(action, ":")
				if strings.ContainsAny(verb, "*?") || verb == "" {
					t.Errorf("%s does not name its actions", text)
				}
				if !slices.Contains(evaluated, service) {
					others = append(others, action)
				}
			}
		}
		slices.Sort(others)
		if got := slices.Compact(others); !slices.Equal(got, otherRights[id.function.Name]) {
			t.Errorf("%s, as %s has it, has the rights %v, want %v", id.function.Name, id.form, got,
				otherRights[id.function.Name])
		}
	})
}
