// Command cloudorganisations answers the operations about whole organizations of clouds.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/cloudorganisations"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(cloudorganisations.Declaration)
	lambda.Start(rest.Lambda(p, cloudorganisations.Operations(p)))
}
