package stacks_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/infra/stacks"
)

// kept lists, by id, the resources that store data and those that are needed to read it. CloudFormation knows them by
// these ids in the root stack: under another id, or in another stack, it would make new and empty ones.
var kept = map[string]string{
	"Table": "AWS::DynamoDB::Table", "Archive": "AWS::S3::Bucket", "Anchors": "AWS::S3::Bucket",
	"LineItems":  "AWS::S3::Bucket",
	"SecretsKey": "AWS::KMS::Key", "SigningKey": "AWS::KMS::Key", "Pepper": "AWS::SecretsManager::Secret",
	"DeadLetters": "AWS::SQS::Queue", "StoppedExecutions": "AWS::SQS::Queue", "Logs": "AWS::Logs::LogGroup",
	"AccessLog":         "AWS::Logs::LogGroup",
	"LineItemsDatabase": "AWS::Glue::Database", "LineItemsTable": "AWS::Glue::Table",
	"Questions": "AWS::Athena::WorkGroup",
	"Api":       "AWS::Serverless::Api", // clients know its address
}

func TestRoot_KeepsWhatStoresData(t *testing.T) {
	files, err := stacks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	types, got := slices.Collect(maps.Values(kept)), map[string]string{}
	for i, f := range files {
		for id, r := range parseFile(t, f) {
			if !slices.Contains(types, r.Type) {
				continue
			}
			if got[id] = r.Type; i > 0 {
				t.Errorf("%s has %s, a %s: it belongs to %s, under the id that it has always had", f.Path, id, r.Type,
					stacks.Root)
			}
		}
	}
	if !maps.Equal(got, kept) {
		t.Errorf("the templates store data in %v, want %v", got, kept)
	}
}

// TestAPI_ComesAfterItsFunctions checks that the API names each child. CloudFormation makes a resource after the
// resources that it names.
func TestAPI_ComesAfterItsFunctions(t *testing.T) {
	files, err := stacks.Read(root)
	if err != nil {
		t.Fatal(err)
	}
	_, api, _ := strings.Cut(string(files[0].Text), "\n  Api:\n")
	description := regexp.MustCompile(`(?s)Description: !If\n(.*?)\n      [A-Z]`).FindString(api)
	for _, f := range files[1:] {
		if !strings.Contains(description, "${"+f.ID()+".Outputs.Wing}") {
			t.Errorf("the API does not wait for the stack %s: name it in the API's Description", f.ID())
		}
		if !strings.Contains(string(f.Text), "\n  Wing: {Value: "+f.Name()+"}") {
			t.Errorf("%s has no output Wing with the value %s", f.Path, f.Name())
		}
		child := parseFile(t, files[0])[f.ID()]
		if child.Type != "AWS::CloudFormation::Stack" || child.Condition != "HasFunctions" {
			t.Errorf("%s is a %q with the condition %q in %s, want a stack with HasFunctions", f.ID(), child.Type,
				child.Condition, stacks.Root)
		}
	}
}
