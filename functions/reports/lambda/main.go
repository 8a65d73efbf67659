// Command reports answers the operations of the group Reports & Analytics, except those about anomalies.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/reports"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(reports.Declaration)
	lambda.Start(rest.Lambda(p, reports.Operations(p)))
}
