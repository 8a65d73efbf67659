// Command dashboards answers the operations of the group Dashboards.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/dashboards"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(dashboards.Declaration)
	lambda.Start(rest.Lambda(p, dashboards.Operations(p)))
}
