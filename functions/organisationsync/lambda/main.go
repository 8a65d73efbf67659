// Command organisationsync synchronizes whole organizations of clouds, each hour and when its machine says so.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/organisationsync"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(organisationsync.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(organisationsync.Handler(p, providers.New(p)))))
}
