// Command description returns the interface description that lies beside its bootstrap, and reports the health of the
// service.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/description"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(description.Declaration)
	lambda.Start(rest.Lambda(p, description.Operations(p, description.FileSource("openapi.yaml"))))
}
