package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"

	"lamplighter.dev/infra/stacks"
)

// needNode skips the test where CDK cannot run: jsii needs node.
func needNode(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: the CDK app was not synthesized")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIPPED: no node on this machine: the CDK app was not synthesized")
	}
}

// checkout returns a folder with the real templates and an empty file for every artefact in them.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	files, err := stacks.Read("..")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`(?m)^ +(CodeUri|DefinitionUri): (\S+)$`)
	for _, f := range files {
		write(t, filepath.Join(root, f.Path), f.Text)
		for _, m := range named.FindAllSubmatch(f.Text, -1) {
			path := filepath.Join(root, filepath.Dir(f.Path), string(m[2]))
			if string(m[1]) == "CodeUri" {
				path = filepath.Join(path, "bootstrap")
			}
			write(t, path, []byte("{}"))
		}
	}
	return root
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestServiceDiffersByStageOnlyWhereItSays(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	root := checkout(t)
	for _, s := range stages {
		app := awscdk.NewApp(nil)
		got := assertions.Template_FromStack(NewService(app, root, s), nil)
		got.AllResourcesProperties(jsii.String("AWS::Logs::LogGroup"), map[string]any{"RetentionInDays": s.LogDays})
		got.HasParameter(jsii.String("ReserveConcurrency"), map[string]any{"Default": strconv.FormatBool(s.Reserved)})
		got.HasResourceProperties(jsii.String("AWS::CloudWatch::Alarm"), map[string]any{
			"Namespace": "Lamplighter", "MetricName": map[string]any{"Fn::Sub": "errors-" + s.Name},
			"Threshold": s.Errors, "AlarmActions": []any{map[string]any{"Ref": "Alarms"}},
		})
		got.HasResourceProperties(jsii.String("AWS::Serverless::Api"), map[string]any{
			"Auth": assertions.Match_ObjectLike(
				&map[string]any{"Authorizers": map[string]any{"Bearer": assertions.Match_ObjectLike(&map[string]any{
					"FunctionPayloadType": "REQUEST",
					"Identity":            map[string]any{"Headers": []string{"Authorization"}, "ReauthorizeEvery": 0},
				})}}),
		})
		boards := 0.0
		if s.Wide {
			boards = 1
		}
		got.ResourceCountIs(jsii.String("AWS::CloudWatch::Dashboard"), jsii.Number(boards))
		got.ResourceCountIs(jsii.String("AWS::ApiGateway::DomainName"), jsii.Number(0))
	}
}

func TestServiceUploadsWhatWasBuilt(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	app := awscdk.NewApp(nil)
	nested := nestedIn(NewService(app, checkout(t), stages[0]))
	if len(nested) != 4 {
		t.Errorf("%d nested stacks", len(nested))
	}
	inS3 := map[string]any{"Bucket": assertions.Match_AnyValue(), "Key": assertions.Match_AnyValue()}
	for _, n := range nested {
		got := assertions.Template_FromStack(n, nil)
		got.AllResourcesProperties(jsii.String("AWS::Serverless::Function"), map[string]any{"CodeUri": inS3})
		if len(*got.FindResources(jsii.String("AWS::Serverless::StateMachine"), nil)) > 0 {
			got.AllResourcesProperties(jsii.String("AWS::Serverless::StateMachine"),
				map[string]any{"DefinitionUri": inS3})
		}
	}
}

func TestServiceAnswersUnderItsDomain(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	s := stages[2]
	s.Domain = Domain{Name: "api.example.com", Certificate: "arn:aws:acm:eu-west-1:123456789012:certificate/x"}
	app := awscdk.NewApp(nil)
	got := assertions.Template_FromStack(NewService(app, checkout(t), s), nil)
	got.HasResourceProperties(jsii.String("AWS::ApiGateway::DomainName"),
		map[string]any{"DomainName": "api.example.com"})
	got.HasResourceProperties(jsii.String("AWS::Serverless::Api"), map[string]any{"DisableExecuteApiEndpoint": true})
}

func TestSynthesizeRefusesWhatWasNotBuilt(t *testing.T) {
	root := checkout(t)
	if err := os.MkdirAll(filepath.Join(root, "functions", "forgotten", "lambda"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := built(root); err == nil {
		t.Fatal("a function without a bootstrap was let through")
	}
	write(t, filepath.Join(root, "build", "forgotten", "bootstrap"), []byte("#!"))
	if err := built(root); err != nil {
		t.Fatalf("everything is built, yet: %v", err)
	}
}

// CloudFormation's reference gives Fn::GetAtt a list in JSON. CDK turns a short form that it does not understand into
// a text.
func TestTemplates_NameAttributesByLists(t *testing.T) {
	needNode(t)
	defer jsii.Close()
	for id, template := range synthesized(t, stages[2]).templates {
		for _, m := range regexp.MustCompile(`"Fn::GetAtt":"[^"]+"`).FindAll(template, -1) {
			t.Errorf("the stack %q has %s: write !Sub \"${…}\" in place of !GetAtt", id, m)
		}
		if !strings.Contains(string(template), "AWS::Serverless-2016-10-31") {
			t.Errorf("the stack %q has lost its transform", id)
		}
	}
}
