// Command users answers the operations of users in the group Users & Teams.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/users"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(users.Declaration)
	lambda.Start(rest.Lambda(p, users.Operations(p)))
}
