package main

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aws/jsii-runtime-go"
)

// The prices of standing resources, which cost the same without calls. US dollars a month in eu-west-1, from the
// price lists of KMS, Secrets Manager and CloudWatch of November 2026. Ten alarmed metrics, ten metrics of our own
// and three dashboards of an account are free.
const (
	keyPrice, secretPrice, alarmPrice, metricPrice, dashboardPrice = 1.00, 0.40, 0.10, 0.30, 3.00
	firewallPrice, firewallRulePrice                               = 5.00, 1.00
	freeAlarms, freeMetrics, freeDashboards                        = 10, 10, 3
)

// standing maps each resource type to its standing price, or to 0 if it costs nothing until it is used. The test
// fails for an unknown type.
var standing = map[string]float64{
	"AWS::KMS::Key": keyPrice, "AWS::SecretsManager::Secret": secretPrice, "AWS::CloudWatch::Alarm": alarmPrice,
	"AWS::CloudWatch::Dashboard":  dashboardPrice,
	"AWS::ApiGateway::DomainName": 0, "AWS::DynamoDB::Table": 0, "AWS::Events::Rule": 0, "AWS::IAM::ManagedPolicy": 0,
	"AWS::IAM::Role": 0, "AWS::Logs::LogGroup": 0,
	"AWS::Logs::MetricFilter": 0, "AWS::SNS::Subscription": 0, "AWS::SNS::Topic": 0, "AWS::SNS::TopicPolicy": 0,
	"AWS::SQS::Queue":       0,
	"AWS::SQS::QueuePolicy": 0, "AWS::Serverless::Api": 0, "AWS::Serverless::Function": 0,
	"AWS::Serverless::StateMachine": 0,
	"AWS::CloudFormation::Stack":    0,
	"AWS::Scheduler::Schedule":      0, "AWS::Lambda::EventInvokeConfig": 0, "AWS::Lambda::EventSourceMapping": 0,
	"AWS::XRay::SamplingRule": 0, "AWS::S3::Bucket": 0, "AWS::S3::BucketPolicy": 0, "AWS::SSM::Parameter": 0,
	"AWS::CDK::Metadata": 0,
	// a catalogue of a million things is free
	"AWS::Athena::WorkGroup": 0, "AWS::Glue::Database": 0, "AWS::Glue::Table": 0,
	"AWS::ApiGateway::Account": 0, "AWS::WAFv2::WebACLAssociation": 0,
	"AWS::WAFv2::WebACL": firewallPrice, // with its rules; the parameter Firewall takes it off
}

// firewall returns the monthly cost in US dollars of the firewall without requests. A group of managed rules counts as
// a rule.
func firewall(t *testing.T, s Stage) float64 {
	t.Helper()
	sum := 0.0
	for _, acl := range resources[struct{ Rules []any }](t, synthesized(t, s), "AWS::WAFv2::WebACL") {
		sum += firewallPrice + float64(len(acl.Rules))*firewallRulePrice
	}
	return sum
}

// idle returns the monthly cost in US dollars of a stage without calls and without the firewall, if it is alone in its
// account.
func idle(t *testing.T, s Stage) float64 {
	t.Helper()
	out, count := synthesized(t, s), map[string]int{}
	for id, r := range out.Resources {
		if _, known := standing[r.Type]; !known {
			t.Errorf("%s is a %s: say in this test what it costs by standing", id, r.Type)
		}
		count[r.Type]++
	}
	own := map[string]bool{}
	for _, f := range resources[metricFilter](t, out, "AWS::Logs::MetricFilter") {
		own[literal(f.MetricTransformations[0].MetricName)] = true
	}
	alarmed := 0
	for _, a := range resources[alarm](t, out, "AWS::CloudWatch::Alarm") {
		alarmed += max(1, len(a.Metrics)-1)
	}
	const embedded = 3 // readUnits, writeUnits, states (shared/api/platform, Used)
	return float64(count["AWS::KMS::Key"])*keyPrice + float64(count["AWS::SecretsManager::Secret"])*secretPrice +
		float64(max(0, alarmed-freeAlarms))*alarmPrice + float64(max(0, len(own)+embedded-freeMetrics))*metricPrice +
		float64(max(0, count["AWS::CloudWatch::Dashboard"]-freeDashboards))*dashboardPrice
}

func TestCost_StandingStaysBelowThreeDollars(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	for _, s := range stages {
		if got := idle(t, s); got > 3 || got < 2 {
			t.Errorf("%s costs $%.2f a month while nobody calls, where up to $3 are wanted", s.Name, got)
		} else {
			t.Logf("%s: $%.2f a month while nobody calls", s.Name, got)
		}
		if got := firewall(t, s); got != 7 {
			t.Errorf("%s costs $%.2f a month more with the firewall, where $7 are documented", s.Name, got)
		}
	}
}

func TestCost_WhatIsPaidByUseIsOffOrSampled(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	for id, r := range d.of("AWS::ApiGateway::Stage") {
		if got := text(t, r.Properties["MethodSettings"]); strings.Contains(got, `"MetricsEnabled":true`) ||
			strings.Contains(got, "DataTraceEnabled") {
			t.Errorf("%s has metrics of each route, up to $75 a month, or logs what is sent: %s", id, got)
		}
		if got := text(t, r.Properties["TracingEnabled"]); !strings.Contains(got, "Traces") {
			t.Errorf("%s traces, whatever TracedShare says: %s", id, got)
		}
	}
	for id, r := range d.of("AWS::XRay::SamplingRule") {
		if got := text(t, r.Properties["SamplingRule"]); !strings.Contains(got, `"FixedRate":{"Ref":"TracedShare"}`) ||
			!strings.Contains(got, `"ReservoirSize":0`) {
			t.Errorf("%s: %s", id, got)
		}
	}
	for id, r := range d.of("AWS::Lambda::Function") {
		if got := text(t, r.Properties["TracingConfig"]); got != `{"Mode":"PassThrough"}` {
			t.Errorf("%s decides by itself what is traced: %s", id, got)
		}
		if r.Properties["ProvisionedConcurrencyConfig"] != nil {
			t.Errorf("%s costs by standing", id)
		}
	}
	for id, r := range d.of("AWS::StepFunctions::StateMachine") {
		if r.Properties["TracingConfiguration"] != nil || r.Properties["LoggingConfiguration"] != nil {
			t.Errorf("%s traces or logs each state of each execution", id)
		}
	}
}

func TestKeys_CanServeAnotherRegionAndBeTheCustomers(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	d := deployedAs(t, stages[2])
	keys := d.of("AWS::KMS::Key")
	if got := slices.Sorted(maps.Keys(keys)); !slices.Equal(got, []string{"SecretsKey", "SigningKey"}) {
		t.Errorf("the keys are %v", got)
	}
	for id, r := range keys {
		if r.Properties["MultiRegion"] != true || r.DeletionPolicy != "Retain" {
			t.Errorf("%s: MultiRegion %v, DeletionPolicy %q: neither can be mended later", id,
				r.Properties["MultiRegion"], r.DeletionPolicy)
		}
	}
	var whole struct {
		Parameters map[string]struct{ Default any }
		Conditions map[string]any
	}
	if err := json.Unmarshal(synthesized(t, stages[2]).templates[""], &whole); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SecretsKeyArn", "TableKeyArn", "LogsKeyArn"} {
		if p, ok := whole.Parameters[name]; !ok || p.Default != "" {
			t.Errorf("the parameter %s is %v", name, p)
		}
	}
	table, logs := d.Resources["Table"].Properties, d.Resources["Logs"].Properties
	if got := text(t, table["SSESpecification"]); !strings.Contains(got, `"NamesTableKey"`) ||
		!strings.Contains(got, `{"Ref":"TableKeyArn"}`) {
		t.Errorf("the table is encrypted by %s", got)
	}
	if got := text(t, logs["KmsKeyId"]); !strings.Contains(got, `"NamesLogsKey"`) ||
		!strings.Contains(got, `{"Ref":"LogsKeyArn"}`) {
		t.Errorf("the log is encrypted by %s", got)
	}
	handed := text(t, d.of("AWS::CloudFormation::Stack")["People"].Properties["Parameters"])
	if !strings.Contains(handed, `"SecretsKeyArn":{"Fn::If":["OwnsSecretsKey",{"Fn::Sub":"${SecretsKey.Arn}"},`+
		`{"Ref":"SecretsKeyArn"}]}`) {
		t.Errorf("functions get another key than the customer's, or the stack's where it is made: %s", handed)
	}
	for id, r := range d.of("AWS::IAM::Role") {
		if p := text(t, r.Properties["Policies"]); strings.Contains(p, `"SecretsKey"`) {
			t.Errorf("%s names the stack's key, which there may not be: %s", id, p)
		}
	}
}
