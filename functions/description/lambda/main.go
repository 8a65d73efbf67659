// Command description hands out the interface description that lies beside its bootstrap, and tells whether the service is well.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/description"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.Open(description.Declaration)
	lambda.Start(rest.Lambda(p, description.Operations(p, description.File("openapi.yaml"))))
}
