// Command resources answers the operations of the group Resources.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(resources.Declaration)
	lambda.Start(rest.Lambda(p, resources.Operations(p)))
}
