// Command reminder announces the end of personal access tokens, each day.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/reminder"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(reminder.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(reminder.Handler(p))))
}
