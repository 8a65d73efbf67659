// Command webhooks answers the operations of the group Webhooks.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/webhooks"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(webhooks.Declaration)
	lambda.Start(rest.Lambda(p, webhooks.Operations(p)))
}
