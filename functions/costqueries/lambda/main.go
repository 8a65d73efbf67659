// Command costqueries answers the operations of free questions.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/costqueries"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(costqueries.Declaration)
	lambda.Start(rest.Lambda(p, costqueries.Operations(p)))
}
