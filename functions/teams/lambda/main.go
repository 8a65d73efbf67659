// Command teams answers the operations about teams.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/teams"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(teams.Declaration)
	lambda.Start(rest.Lambda(p, teams.Operations(p)))
}
