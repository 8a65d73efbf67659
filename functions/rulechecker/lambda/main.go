// Command rulechecker checks own rules of recommendations while a caller waits.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/rulechecker"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/lambdacall"
)

func main() {
	p := platform.OpenLambda(rulechecker.Declaration)
	lambda.Start(lambdacall.Function(lambdacall.Handler(p.Logged(rulechecker.Handler(p)))))
}
