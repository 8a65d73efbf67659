package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"
	"github.com/aws/jsii-runtime-go"
)

// needNode skips where CDK cannot run: jsii drives node.
func needNode(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("SKIPPED: -short: the CDK app was not synthesized")
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIPPED: no node on this machine: the CDK app was not synthesized")
	}
}

// checkout returns a folder with the real template and an empty file for every artefact that it names.
func checkout(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	template, err := os.ReadFile("../template.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "template.yaml"), template)
	for _, m := range regexp.MustCompile(`(?m)^ +CodeUri: (\S+)$`).FindAllSubmatch(template, -1) {
		write(t, filepath.Join(root, string(m[1]), "bootstrap"), []byte("#!"))
	}
	for _, m := range regexp.MustCompile(`(?m)^ +DefinitionUri: (\S+)$`).FindAllSubmatch(template, -1) {
		write(t, filepath.Join(root, string(m[1])), []byte("{}"))
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
		got.HasResourceProperties(jsii.String("AWS::Logs::LogGroup"), map[string]any{"RetentionInDays": s.LogDays})
		got.HasResourceProperties(jsii.String("AWS::DynamoDB::Table"),
			map[string]any{"DeletionProtectionEnabled": s.Protected})
		got.HasParameter(jsii.String("ReserveConcurrency"), map[string]any{"Default": strconv.FormatBool(s.Reserved)})
		got.HasResourceProperties(jsii.String("AWS::CloudWatch::Alarm"), map[string]any{
			"Namespace": "Lamplighter", "MetricName": "errors-" + s.Name, "Threshold": s.Errors,
			"AlarmActions": assertions.Match_AnyValue(),
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
	got := assertions.Template_FromStack(NewService(app, checkout(t), stages[0]), nil)
	inS3 := map[string]any{"Bucket": assertions.Match_AnyValue(), "Key": assertions.Match_AnyValue()}
	got.AllResourcesProperties(jsii.String("AWS::Serverless::Function"), map[string]any{"CodeUri": inS3})
	got.AllResourcesProperties(jsii.String("AWS::Serverless::StateMachine"), map[string]any{"DefinitionUri": inS3})
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
