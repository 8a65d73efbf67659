// Command tokens answers the operations on personal access tokens.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/tokens"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(tokens.Declaration)
	lambda.Start(rest.Lambda(p, tokens.Operations(p)))
}
