// Command schedules answers the operations of the group Schedules that are about schedules.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/schedules"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(schedules.Declaration)
	lambda.Start(rest.Lambda(p, schedules.Operations(p)))
}
