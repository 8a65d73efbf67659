// Command console serves the web console, which is embedded in it.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/console"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(console.Declaration)
	lambda.Start(rest.Lambda(p, console.Operations(p)))
}
