// Command pricesync fetches public prices and estimates the costs of resources every night.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/pricesync"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(pricesync.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(pricesync.Handler(p, providers.New(p)))))
}
