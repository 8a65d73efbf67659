package stacks_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"lamplighter.dev/infra/stacks"
)

// defaultsOf returns the defaults of the root's parameters.
func defaultsOf(t *testing.T) map[string]string {
	t.Helper()
	var doc struct {
		Parameters map[string]struct {
			Default string `yaml:"Default"`
		} `yaml:"Parameters"`
	}
	if err := yaml.Unmarshal(readAll(t)[stacks.Root], &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for name, p := range doc.Parameters {
		out[name] = p.Default
	}
	return out
}

// A deployment whose parameters were not set is the safe one.
func TestParameters_AreSafeUntilTheyAreSet(t *testing.T) {
	defaults, shared := defaultsOf(t), string(readAll(t)[stacks.Shared])
	for name, want := range map[string]string{
		"DeletionProtection": "true", "Firewall": "true", "AccessLogs": "true", "PrivateAddresses": "false",
		"CustomEndpoints": "false",
	} {
		if got, ok := defaults[name]; got != want {
			t.Errorf("the parameter %s is %q by default, of its own: %v; want %q", name, got, ok, want)
		}
	}
	for variable, parameter := range map[string]string{
		"LAMPLIGHTER_PRIVATE_ADDRESSES": "PrivateAddresses", "LAMPLIGHTER_CUSTOM_ENDPOINTS": "CustomEndpoints",
	} {
		if !strings.Contains(shared, variable+": !Ref "+parameter+"\n") {
			t.Errorf("%s does not give functions the parameter %s as %s", stacks.Shared, parameter, variable)
		}
	}
}

func TestTable_IsProtectedFromDeletion(t *testing.T) {
	table := readDocument(t, stacks.Root)["Table"].Properties
	want := map[string]any{"Fn::If": []any{"ProtectsTable", "true", "false"}}
	if got := table["DeletionProtectionEnabled"]; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("DeletionProtectionEnabled is %v, want %v", got, want)
	}
	if text := string(readAll(t)[stacks.Root]); !strings.Contains(text,
		"  ProtectsTable: !Equals [!Ref DeletionProtection, \"true\"]\n") {
		t.Error("ProtectsTable does not follow the parameter DeletionProtection")
	}
}

// rule is a rule of the firewall.
type rule struct {
	Name, Priority string
	Action         map[string]any
	OverrideAction map[string]any
	Statement      map[string]map[string]any
}

// rulesOf returns the rules of the firewall by the kinds of their statements.
func rulesOf(t *testing.T) map[string]rule {
	t.Helper()
	rules, _ := readDocument(t, stacks.Root)["WebFirewall"].Properties["Rules"].([]any)
	out := map[string]rule{}
	for _, r := range rules {
		text, err := yaml.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var v struct {
			Name           string                    `yaml:"Name"`
			Priority       string                    `yaml:"Priority"`
			Action         map[string]any            `yaml:"Action"`
			OverrideAction map[string]any            `yaml:"OverrideAction"`
			Statement      map[string]map[string]any `yaml:"Statement"`
		}
		if err = yaml.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		for kind := range v.Statement {
			out[kind] = rule(v)
		}
	}
	return out
}

func TestFirewall_StandsBeforeTheAPI(t *testing.T) {
	d, rules := readDocument(t, stacks.Root), rulesOf(t)
	rate := rules["RateBasedStatement"]
	if rate.Action["Block"] == nil || rate.Statement["RateBasedStatement"]["AggregateKeyType"] != "IP" {
		t.Errorf("no rule limits the requests of one source: %+v", rate)
	}
	limit := rate.Statement["RateBasedStatement"]
	if fmt.Sprintf("%v %v", limit["Limit"], limit["EvaluationWindowSec"]) != "3000 300" {
		t.Errorf("a source may send %v requests in %v s; docs/operations/deploy.md says 3,000 in five minutes",
			limit["Limit"], limit["EvaluationWindowSec"])
	}
	if left := fmt.Sprint(limit["ScopeDownStatement"]); strings.Count(left, "SearchString") != 1 ||
		!strings.Contains(left, "NotStatement") || !strings.Contains(left, "SearchString:/webhooks/") {
		t.Errorf("the limit leaves out %s, where only webhooks come from few sources", left)
	}
	common := rules["ManagedRuleGroupStatement"]
	if common.Statement["ManagedRuleGroupStatement"]["Name"] != "AWSManagedRulesCommonRuleSet" ||
		fmt.Sprint(common.OverrideAction) != "map[None:map[]]" {
		t.Errorf("the managed common rules are not in force: %+v", common)
	}
	if len(rules) != 2 || rate.Priority >= common.Priority {
		t.Errorf("the rules are %+v", rules)
	}
	on := fmt.Sprint(d["WebFirewallBeforeApi"].Properties["ResourceArn"])
	if !strings.Contains(on, "/restapis/${Api}/stages/${Api.Stage}") {
		t.Errorf("the firewall stands before %s", on)
	}
}

// The rules that judge bodies and long queries would refuse assertions of SAML, messages of GitHub, names and the
// scopes in Google's callback. All others are in force.
func TestFirewall_CountsWhatOurParsersJudge(t *testing.T) {
	overrides, _ := rulesOf(
		t)["ManagedRuleGroupStatement"].Statement["ManagedRuleGroupStatement"]["RuleActionOverrides"].([]any)
	var got []string
	for _, o := range overrides {
		m, _ := o.(map[string]any)
		got = append(got, fmt.Sprint(m["Name"]))
		if fmt.Sprint(m["ActionToUse"]) != "map[Count:map[]]" {
			t.Errorf("%v does %v", m["Name"], m["ActionToUse"])
		}
	}
	slices.Sort(got)
	want := []string{
		"CrossSiteScripting_BODY", "EC2MetaDataSSRF_BODY", "GenericLFI_BODY", "GenericRFI_BODY",
		"GenericRFI_QUERYARGUMENTS", "NoUserAgent_HEADER", "SizeRestrictions_BODY", "SizeRestrictions_QUERYSTRING",
	}
	if !slices.Equal(got, want) {
		t.Errorf("the rules that only count are %v, want %v", got, want)
	}
}

// SNS has no statement for CloudWatch once a topic has a policy of its own.
func TestAlarms_ReachTheirTopic(t *testing.T) {
	d := readDocument(t, stacks.Root)
	policy := fmt.Sprint(resolve(d["AlarmsPolicy"].Properties))
	for _, want := range []string{"cloudwatch.amazonaws.com", "aws:SourceAccount:123456789012", "aws:SecureTransport"} {
		if !strings.Contains(policy, want) {
			t.Errorf("the policy of the topic lacks %s: %s", want, policy)
		}
	}
	alarms := 0
	for id, r := range d {
		if r.Properties["AlarmActions"] == nil {
			continue
		}
		if alarms++; fmt.Sprint(resolve(r.Properties["AlarmActions"])) != "[Alarms]" {
			t.Errorf("%s tells %v", id, r.Properties["AlarmActions"])
		}
	}
	if alarms != 9 {
		t.Errorf("%d alarms", alarms)
	}
	for id, endpoint := range map[string]string{"OperatorsByMail": "OperatorMail", "OperatorsByHook": "OperatorHook"} {
		if got := resolve(d[id].Properties["Endpoint"]); got != endpoint {
			t.Errorf("%s tells %v, want the parameter %s", id, got, endpoint)
		}
	}
}
