// Command resourcegroups answers the operations of the group Resource Groups.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/resourcegroups"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(resourcegroups.Declaration)
	lambda.Start(rest.Lambda(p, resourcegroups.Operations(p)))
}
