package wire_test

import (
	"encoding/json"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud/aws/wire/applicationautoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/apprunner"
	"lamplighter.dev/shared/cloud/aws/wire/autoscaling"
	"lamplighter.dev/shared/cloud/aws/wire/bcmdataexports"
	"lamplighter.dev/shared/cloud/aws/wire/cloudwatch"
	"lamplighter.dev/shared/cloud/aws/wire/cloudwatchlogs"
	"lamplighter.dev/shared/cloud/aws/wire/costandusagereportservice"
	"lamplighter.dev/shared/cloud/aws/wire/costexplorer"
	"lamplighter.dev/shared/cloud/aws/wire/costoptimizationhub"
	"lamplighter.dev/shared/cloud/aws/wire/databasemigrationservice"
	"lamplighter.dev/shared/cloud/aws/wire/dax"
	"lamplighter.dev/shared/cloud/aws/wire/directconnect"
	"lamplighter.dev/shared/cloud/aws/wire/ec2"
	"lamplighter.dev/shared/cloud/aws/wire/ecr"
	"lamplighter.dev/shared/cloud/aws/wire/ecs"
	"lamplighter.dev/shared/cloud/aws/wire/efs"
	"lamplighter.dev/shared/cloud/aws/wire/eks"
	"lamplighter.dev/shared/cloud/aws/wire/elasticache"
	"lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancing"
	"lamplighter.dev/shared/cloud/aws/wire/elasticloadbalancingv2"
	"lamplighter.dev/shared/cloud/aws/wire/fsx"
	"lamplighter.dev/shared/cloud/aws/wire/lambda"
	"lamplighter.dev/shared/cloud/aws/wire/lightsail"
	"lamplighter.dev/shared/cloud/aws/wire/opensearch"
	"lamplighter.dev/shared/cloud/aws/wire/organizations"
	"lamplighter.dev/shared/cloud/aws/wire/rds"
	"lamplighter.dev/shared/cloud/aws/wire/redshift"
	"lamplighter.dev/shared/cloud/aws/wire/resourceexplorer2"
	"lamplighter.dev/shared/cloud/aws/wire/resourcegroupstaggingapi"
	"lamplighter.dev/shared/cloud/aws/wire/s3control"
	"lamplighter.dev/shared/cloud/aws/wire/sagemaker"
	"lamplighter.dev/shared/cloud/aws/wire/secretsmanager"
	"lamplighter.dev/shared/cloud/aws/wire/sqs"
	"lamplighter.dev/shared/cloud/aws/wire/synthetics"
	"lamplighter.dev/shared/cloud/aws/wire/transfer"
	"lamplighter.dev/shared/cloud/aws/wire/workspaces"
	"lamplighter.dev/shared/testkit/clouds/awswire"
)

// clients are the clients by the name of their service's package.
var clients = map[string]awswire.Client{
	"applicationautoscaling":    {New: applicationautoscaling.NewFromConfig},
	"apprunner":                 {New: apprunner.NewFromConfig},
	"autoscaling":               {New: autoscaling.NewFromConfig},
	"bcmdataexports":            {New: bcmdataexports.NewFromConfig},
	"cloudwatch":                {New: cloudwatch.NewFromConfig},
	"cloudwatchlogs":            {New: cloudwatchlogs.NewFromConfig},
	"costandusagereportservice": {New: costandusagereportservice.NewFromConfig},
	"costexplorer":              {New: costexplorer.NewFromConfig},
	"costoptimizationhub":       {New: costoptimizationhub.NewFromConfig},
	"databasemigrationservice":  {New: databasemigrationservice.NewFromConfig},
	"dax":                       {New: dax.NewFromConfig},
	"directconnect":             {New: directconnect.NewFromConfig},
	"ec2":                       {New: ec2.NewFromConfig},
	"ecr":                       {New: ecr.NewFromConfig},
	"ecs":                       {New: ecs.NewFromConfig},
	"efs":                       {New: efs.NewFromConfig},
	"eks":                       {New: eks.NewFromConfig},
	"elasticache":               {New: elasticache.NewFromConfig},
	"elasticloadbalancing":      {New: elasticloadbalancing.NewFromConfig},
	"elasticloadbalancingv2":    {New: elasticloadbalancingv2.NewFromConfig},
	"fsx":                       {New: fsx.NewFromConfig},
	"lambda":                    {New: lambda.NewFromConfig},
	"lightsail":                 {New: lightsail.NewFromConfig},
	"opensearch":                {New: opensearch.NewFromConfig},
	"organizations":             {New: organizations.NewFromConfig},
	"rds":                       {New: rds.NewFromConfig},
	"redshift":                  {New: redshift.NewFromConfig},
	"resourceexplorer2":         {New: resourceexplorer2.NewFromConfig},
	"resourcegroupstaggingapi":  {New: resourcegroupstaggingapi.NewFromConfig},
	"s3control":                 {New: s3control.NewFromConfig},
	"sagemaker":                 {New: sagemaker.NewFromConfig},
	"secretsmanager":            {New: secretsmanager.NewFromConfig},
	"sqs":                       {New: sqs.NewFromConfig},
	"synthetics":                {New: synthetics.NewFromConfig},
	"transfer":                  {New: transfer.NewFromConfig},
	"workspaces":                {New: workspaces.NewFromConfig},
}

// recordings returns the recorded requests of the SDK's clients (shared/testkit/clouds/awswire/record).
func recordings(t *testing.T) []awswire.Recording {
	t.Helper()
	var all []awswire.Recording
	for _, name := range slices.Sorted(maps.Keys(clients)) {
		b, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var r awswire.Recording
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, r)
	}
	return all
}

func TestClients_SendWhatTheSDKSends(t *testing.T) {
	for _, r := range recordings(t) {
		for _, op := range r.Operations {
			t.Run(r.Service+" "+op.Name, func(t *testing.T) {
				c := clients[r.Service]
				in := c.Input(op.Name)
				awswire.FillFields(in)
				_, sent, _ := c.Call(awswire.Region, "", op.Name, in, op.Answers[0])
				compare(t, "request", sent, op.Request)
				_, sent, _ = c.Call(awswire.Region, awswire.Address, op.Name, in, op.Answers[0])
				compare(t, "address of a request to an emulator", sent.URL, op.AtAddress)
			})
		}
	}
}

func TestClients_ReadWhatTheSDKReads(t *testing.T) {
	for _, r := range recordings(t) {
		for _, op := range r.Operations {
			for _, a := range op.Answers {
				t.Run(r.Service+" "+op.Name+" "+a.Name, func(t *testing.T) {
					c := clients[r.Service]
					in := c.Input(op.Name)
					awswire.FillFields(in)
					out, _, err := c.Call(awswire.Region, "", op.Name, in, a)
					got := awswire.Read(awswire.Answer{Name: a.Name, Status: a.Status, Header: a.Header, Body: a.Body},
						out, err, reflect.TypeOf(c.Output(op.Name)))
					compare(t, "result", got, a)
				})
			}
		}
	}
}

func TestClients_AskTheSDKsEndpoints(t *testing.T) {
	for _, r := range recordings(t) {
		for region, want := range r.Endpoints {
			t.Run(r.Service+" in "+region, func(t *testing.T) {
				c := clients[r.Service]
				op := r.Operations[0]
				in := c.Input(op.Name)
				awswire.FillFields(in)
				_, sent, _ := c.Call(region, "", op.Name, in, op.Answers[0])
				host := strings.Split(sent.URL, "/")
				compare(t, "host and signing region", [2]string{host[2], strings.Split(sent.Signed, "/")[0]}, want)
			})
		}
	}
}

func TestRecordings_HoldEveryOperationOfTheClients(t *testing.T) {
	for _, r := range recordings(t) {
		client := reflect.TypeOf(clients[r.Service].New).Out(0)
		for m := range client.Methods() {
			if !slices.ContainsFunc(r.Operations, func(o awswire.Operation) bool { return o.Name == m.Name }) {
				t.Errorf("testdata/%s.json has no operation %s: record it", r.Service, m.Name)
			}
		}
	}
}

func compare(t *testing.T, what string, got, want any) {
	t.Helper()
	g, w := awswire.NormalizeJSON(got), awswire.NormalizeJSON(want)
	if reflect.DeepEqual(g, w) {
		return
	}
	gb, _ := json.Marshal(g)
	wb, _ := json.Marshal(w)
	t.Errorf("%s:\n got %s\nwant %s", what, gb, wb)
}
