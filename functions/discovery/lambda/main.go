// Command discovery runs the tasks of the discovery machine.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/discovery"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(discovery.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(discovery.Handler(p, providers.New(p)))))
}
