// Command auditlogs answers the operations of the group Audit Logs.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/auditlogs"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(auditlogs.Declaration)
	lambda.Start(rest.Lambda(p, auditlogs.Operations(p)))
}
