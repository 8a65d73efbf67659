// Command sweeper starts lost work again, each minute.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/sweeper"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(sweeper.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(sweeper.Handler(p))))
}
