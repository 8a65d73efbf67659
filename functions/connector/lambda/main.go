// Command connector asks clouds about accounts while a caller waits.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/connector"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/worker"
)

func main() {
	p := platform.Open()
	lambda.Start(worker.Function(connector.Handler(p, providers.Of(p))))
}
