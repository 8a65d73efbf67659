// Command authorizer decides before each request who is calling and whether the organization's minute has room.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/authorizer"
	"lamplighter.dev/shared/api/platform"
)

func main() {
	p := platform.OpenLambda(authorizer.Declaration, platform.WithTokens)
	lambda.Start(authorizer.Handler(p))
}
