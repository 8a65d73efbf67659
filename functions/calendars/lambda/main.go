// Command calendars answers the operations of the group Schedules that are about calendars.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/calendars"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(calendars.Declaration)
	lambda.Start(rest.Lambda(p, calendars.Operations(p)))
}
