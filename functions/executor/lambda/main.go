// Command executor runs the tasks of the action, bulk-action, event-readiness and remediation machines.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/executor"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(executor.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(executor.Handler(p, providers.New(p)))))
}
