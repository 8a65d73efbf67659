// Command anomalycheck judges costs and budgets when bills have changed.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/anomalycheck"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(anomalycheck.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(anomalycheck.Handler(p))))
}
