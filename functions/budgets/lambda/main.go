// Command budgets answers the operations of the group Budgets.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/budgets"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(budgets.Declaration)
	lambda.Start(rest.Lambda(p, budgets.Operations(p)))
}
