// Command connector asks clouds about accounts while a caller waits.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/lambdacall"
)

func main() {
	p := platform.OpenLambda(connector.Declaration)
	lambda.Start(lambdacall.Function(connector.Handler(p, providers.New(p))))
}
