// Command eventreadiness answers the operations of the group Event Readiness.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/eventreadiness"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(eventreadiness.Declaration)
	lambda.Start(rest.Lambda(p, eventreadiness.Operations(p)))
}
