// Command anomalies answers the operations of the group Reports & Analytics that are about anomalies.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/anomalies"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(anomalies.Declaration)
	lambda.Start(rest.Lambda(p, anomalies.Operations(p)))
}
