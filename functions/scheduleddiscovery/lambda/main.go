// Command scheduleddiscovery starts the discoveries that are due, each minute.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/scheduleddiscovery"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(scheduleddiscovery.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(scheduleddiscovery.Handler(p))))
}
