// Command notifier delivers the events of the table's stream to people and programs, and retries each minute.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/notifier"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(notifier.Declaration)
	worker := notifier.New(p, notifier.Everybody(p))
	lambda.Start(workflow.LambdaHandler(p.Logged(table.FeedHandler(worker, p.Log))))
}
