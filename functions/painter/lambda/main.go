// Command painter draws charts while a caller waits.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/painter"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/lambdacall"
)

func main() {
	p := platform.OpenLambda(painter.Declaration)
	lambda.Start(lambdacall.Function(lambdacall.Handler(p.Logged(painter.Handler))))
}
