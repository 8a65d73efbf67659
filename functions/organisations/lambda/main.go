// Command organisations answers the operations of the group Organizations.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/organisations"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(organisations.Declaration)
	lambda.Start(rest.Lambda(p, organisations.Operations(p)))
}
