// Command evaluator has schedules fire and overrides end, each minute.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/evaluator"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(evaluator.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(evaluator.Handler(p))))
}
