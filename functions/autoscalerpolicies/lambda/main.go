// Command autoscalerpolicies answers the operations of the group VM Autoscaling.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/autoscalerpolicies"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(autoscalerpolicies.Declaration)
	lambda.Start(rest.Lambda(p, autoscalerpolicies.Operations(p)))
}
