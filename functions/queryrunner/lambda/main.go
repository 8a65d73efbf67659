// Command queryrunner answers free questions of line items by Athena.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/queryrunner"
	"lamplighter.dev/functions/queryrunner/athena"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/lambdacall"
)

func main() {
	p := platform.OpenLambda(queryrunner.Declaration)
	client := athena.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_ATHENA_WORKGROUP"),
		os.Getenv("LAMPLIGHTER_ATHENA_DATABASE"))
	lambda.Start(lambdacall.Function(lambdacall.Handler(p.Logged(queryrunner.Handler(p,
		queryrunner.NewAthena(client))))))
}
