// Command integrations answers the operations of the group Integrations.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/integrations"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(integrations.Declaration)
	lambda.Start(rest.Lambda(p, integrations.Operations(p)))
}
