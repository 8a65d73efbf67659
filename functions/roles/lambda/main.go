// Command roles answers the operations of the group Roles & Permissions.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/roles"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(roles.Declaration)
	lambda.Start(rest.Lambda(p, roles.Operations(p)))
}
