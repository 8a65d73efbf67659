package stacks_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/iampolicy"
)

// The actions on the table: those that read and those that write, by key, and those that no function is to have.
var (
	readActions  = []string{"GetItem", "BatchGetItem", "Query", "ConditionCheckItem"}
	writeActions = []string{"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem"}
	noActions    = []string{
		"Scan", "PartiQLSelect", "PartiQLInsert", "PartiQLUpdate", "PartiQLDelete", "DescribeTable", "UpdateTable",
		"DeleteTable", "CreateBackup", "ExportTableToPointInTime", "RestoreTableToPointInTime", "UpdateTimeToLive",
	}
)

// identity is a function with its statements in one of the two forms of the templates.
type identity struct {
	t          *testing.T
	form       string
	function   functions.Function
	statements []iampolicy.Statement
	decided    *int
}

// each calls do for each function, with its policies as the templates write them, and as SAM expands them.
func each(t *testing.T, do func(id identity)) {
	t.Helper()
	decided := 0
	for form, policies := range map[string]map[string][]iampolicy.Statement{
		"template.yaml": policiesOfTemplates(t), "SAM": policiesOfSAM(t),
	} {
		for _, f := range functions.All() {
			if policies != nil && len(policies[f.Name]) == 0 && len(f.Access.All()) > 0 {
				t.Errorf("%s: the function %s has no policies", form, f.Name)
			}
			if policies != nil {
				do(identity{t, form, f, policies[f.Name], &decided})
			}
		}
	}
	t.Logf("%d requests decided", decided)
}

// check fails if the policies decide a request otherwise than wanted.
func (i identity) check(want bool, r iampolicy.Request) {
	i.t.Helper()
	got, err := iampolicy.Decide(i.statements, r)
	if *i.decided++; err != nil {
		i.t.Fatalf("%s, %s: %v", i.function.Name, i.form, err)
	}
	if (got == iampolicy.Allowed) != want {
		i.t.Errorf("%s, as %s has it: %s of %s with %v is %s; want it allowed: %v", i.function.Name, i.form, r.Action,
			r.Resource, r.Context, got, want)
	}
}

// onTable checks a request to the table with partition keys.
func (i identity) onTable(want bool, action string, context map[string][]string, keys ...string) {
	i.t.Helper()
	all := map[string][]string{}
	maps.Copy(all, context)
	if len(keys) > 0 {
		all["dynamodb:LeadingKeys"] = keys
	}
	i.check(want, iampolicy.Request{Action: "dynamodb:" + action, Resource: valueOf("TableArn"), Context: all})
}

// example returns a partition key that a pattern matches.
func example(p table.Partition) string {
	org := strings.Replace(string(p), "ORG#*", "ORG#org_01JD0000000000000000000000", 1)
	return strings.ReplaceAll(org, "*", "01JD0000000000000000000001")
}

func matchesOne(ps []table.Partition, key string) bool {
	return slices.ContainsFunc(ps, func(p table.Partition) bool { return p.Matches(key) })
}

// partitionsOfAll are all declared partitions, and two that no function has.
func partitionsOfAll() []table.Partition {
	return append(functions.Partitions(functions.All()), "ORG#*#NOBODYS", "NOBODYS#*")
}

// TestIAM_EachFunctionReachesItsOwnPartitions evaluates each function's policies for each partition: what the function
// declares is allowed, and every other partition is refused.
func TestIAM_EachFunctionReachesItsOwnPartitions(t *testing.T) {
	inTransaction := map[string][]string{"dynamodb:EnclosingOperation": {"TransactWriteItems"}}
	each(t, func(id identity) {
		a := id.function.Access
		for _, p := range partitionsOfAll() {
			key := example(p)
			for _, action := range readActions {
				id.onTable(matchesOne(a.All(), key), action, nil, key)
			}
			for _, action := range writeActions {
				id.onTable(matchesOne(a.Writes, key), action, nil, key)
			}
			appends := matchesOne(a.Writes, key) || matchesOne(a.Appends, key)
			id.onTable(appends, "PutItem", inTransaction, key)
			id.onTable(matchesOne(a.Writes, key), "DeleteItem", inTransaction, key)
			for _, action := range noActions {
				id.onTable(false, action, nil, key)
			}
		}
	})
}

// TestIAM_ARequestWithAForeignKeyIsRefused checks requests with several keys, with none, and to another table.
func TestIAM_ARequestWithAForeignKeyIsRefused(t *testing.T) {
	each(t, func(id identity) {
		for _, action := range slices.Concat(readActions, writeActions, noActions) {
			id.onTable(false, action, nil)
		}
		own := id.function.Access.All()
		if len(own) == 0 {
			return
		}
		id.onTable(true, "BatchGetItem", nil, example(own[0]), example(own[len(own)-1]))
		for _, p := range partitionsOfAll() {
			if key := example(p); !matchesOne(own, key) {
				id.onTable(false, "BatchGetItem", nil, example(own[0]), key)
			}
		}
		for _, other := range []string{valueOf("TableArn") + "-restored", valueOf("TableArn") + "/index/x", "*"} {
			id.check(false, iampolicy.Request{Action: "dynamodb:GetItem", Resource: other, Context: map[string][]string{
				"dynamodb:LeadingKeys": {example(own[0])},
			}})
		}
	})
}

// union returns the values that functions declare in a field, each once.
func union[T ~string](field func(functions.Function) []T) []T {
	var out []T
	for _, f := range functions.All() {
		out = append(out, field(f)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// declares reports whether a function declares a name, or all names.
func declares(names []string, name string) bool {
	return slices.Contains(names, name) || slices.Contains(names, platform.EveryMachine)
}

func TestIAM_EachFunctionOpensTheSecretsThatItDeclares(t *testing.T) {
	kinds := append(union(func(f functions.Function) []string { return slices.Concat(f.Seals, f.Opens) }), "another")
	each(t, func(id identity) {
		for _, kind := range kinds {
			for action, declared := range map[string][]string{
				"kms:GenerateDataKey": id.function.Seals, "kms:Decrypt": id.function.Opens,
			} {
				id.check(slices.Contains(declared, kind), iampolicy.Request{
					Action: action, Resource: valueOf("SecretsKeyArn"),
					Context: map[string][]string{"kms:EncryptionContext:kind": {kind}},
				})
			}
		}
		for _, action := range []string{"kms:GenerateDataKey", "kms:Decrypt", "kms:ScheduleKeyDeletion"} {
			id.check(false, iampolicy.Request{Action: action, Resource: valueOf("SecretsKeyArn")})
		}
		for _, s := range platform.Secrets {
			arn := valueOf("Pepper")
			if s != platform.PepperSecret {
				arn = valueOf(secretParameters[s]+"Arn") + "-AbC123"
			}
			declared := slices.Contains(id.function.Secrets, s)
			id.check(declared, iampolicy.Request{Action: "secretsmanager:GetSecretValue", Resource: arn})
			id.check(false, iampolicy.Request{Action: "secretsmanager:GetSecretValue", Resource: arn + "4"})
			id.check(false, iampolicy.Request{Action: "secretsmanager:PutSecretValue", Resource: arn})
		}
	})
}

func TestIAM_EachFunctionCallsThoseThatItDeclares(t *testing.T) {
	arn := "arn:aws:%s:eu-west-1:123456789012:%s:lamplighter-prod-%s"
	each(t, func(id identity) {
		f := id.function
		for _, machine := range append(functions.Machines(functions.All()), "another") {
			execution := fmt.Sprintf(arn, "states", "execution", machine) + ":x"
			for action, declared := range map[string][]string{
				"states:StopExecution":     f.Stops,
				"states:DescribeExecution": f.Looks,
			} {
				id.check(declares(declared, machine), iampolicy.Request{Action: action, Resource: execution})
			}
			id.check(declares(f.Starts, machine), iampolicy.Request{
				Action: "states:StartExecution", Resource: fmt.Sprintf(arn, "states", "stateMachine", machine),
			})
		}
		for _, other := range functions.All() {
			live := fmt.Sprintf(arn, "lambda", "function", other.Name) + ":live"
			id.check(slices.Contains(f.Calls, other.Name),
				iampolicy.Request{Action: "lambda:InvokeFunction", Resource: live})
			id.check(false, iampolicy.Request{Action: "lambda:UpdateFunctionCode", Resource: live})
		}
		id.check(f.Clouds, iampolicy.Request{Action: "sts:AssumeRole", Resource: valueOf("CloudsRoleArn")})
		const customer = "arn:aws:iam::210987654321:role/customer"
		id.check(false, iampolicy.Request{Action: "sts:AssumeRole", Resource: customer})
	})
}

// Roles of our own account trust it for other reasons than a customer's: a member who connects one of them as a cloud
// account must not get its rights.
func TestIAM_TheRoleOfCloudsAssumesNoRoleOfOurOwnAccount(t *testing.T) {
	statements := documentsOf(t, readDocument(t, stacks.Root), "CloudsRole")
	for resource, want := range map[string]iampolicy.Decision{
		"arn:aws:iam::210987654321:role/lamplighter":           iampolicy.Allowed,
		"arn:aws:iam::210987654321:role/of/a/path":             iampolicy.Allowed,
		"arn:aws:iam::123456789012:role/admin":                 iampolicy.ExplicitlyDenied,
		"arn:aws:iam::123456789012:role/service-role/x":        iampolicy.ExplicitlyDenied,
		"arn:aws:iam::123456789012:role/lamplighter-dev-cloud": iampolicy.ExplicitlyDenied,
		"arn:aws:iam::210987654321:user/x":                     iampolicy.ImplicitlyDenied,
	} {
		got, err := iampolicy.Decide(statements, iampolicy.Request{Action: "sts:AssumeRole", Resource: resource})
		if err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", resource, got, err, want)
		}
	}
}
