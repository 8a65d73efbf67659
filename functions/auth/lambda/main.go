// Command auth answers the operations of the group Authentication.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/auth"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(auth.Declaration, platform.WithTokens)
	lambda.Start(rest.Lambda(p, auth.Operations(p)))
}
