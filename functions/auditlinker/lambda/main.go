// Command auditlinker links entries into the chains of the audit log, each minute.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/auditlinker"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(auditlinker.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(auditlinker.Handler(p))))
}
