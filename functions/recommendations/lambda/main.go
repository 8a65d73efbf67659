// Command recommendations answers the operations of the group Recommendations.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/recommendations"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(recommendations.Declaration)
	lambda.Start(rest.Lambda(p, recommendations.Operations(p)))
}
