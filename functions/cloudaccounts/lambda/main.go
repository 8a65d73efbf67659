// Command cloudaccounts answers the operations of the group Cloud Accounts.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/cloudaccounts"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(cloudaccounts.Declaration)
	lambda.Start(rest.Lambda(p, cloudaccounts.Operations(p)))
}
