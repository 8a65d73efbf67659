// Command billing answers the operations about bills.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/billing"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(billing.Declaration)
	lambda.Start(rest.Lambda(p, billing.Operations(p)))
}
