// Command actions answers the operations of the group Actions & Execution.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/actions"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(actions.Declaration)
	lambda.Start(rest.Lambda(p, actions.Operations(p)))
}
