// Command passkeyverifier verifies answers of authenticators while a caller waits.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/passkeyverifier"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/lambdacall"
)

func main() {
	p := platform.OpenLambda(passkeyverifier.Declaration)
	lambda.Start(lambdacall.Function(lambdacall.Handler(p.Logged(passkeyverifier.Handler))))
}
