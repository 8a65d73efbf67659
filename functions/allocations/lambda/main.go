// Command allocations answers the operations of the group Reports & Analytics that split the cost of clusters.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/allocations"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(allocations.Declaration)
	lambda.Start(rest.Lambda(p, allocations.Operations(p)))
}
