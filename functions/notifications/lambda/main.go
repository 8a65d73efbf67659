// Command notifications answers the operations of the group Notifications.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/notifications"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(notifications.Declaration)
	lambda.Start(rest.Lambda(p, notifications.Operations(p)))
}
