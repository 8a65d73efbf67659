// Command overrides answers the operations of the group Overrides.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/overrides"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(overrides.Declaration)
	lambda.Start(rest.Lambda(p, overrides.Operations(p)))
}
