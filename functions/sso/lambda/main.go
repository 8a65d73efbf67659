// Command sso answers the operations of single sign-on.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/sso"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(sso.Declaration, platform.WithTokens)
	lambda.Start(rest.Lambda(p, sso.SignIn(p), sso.Settings(p)))
}
