// Command remediation answers the operations of the group Remediation Workflows.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/remediation"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(remediation.Declaration)
	lambda.Start(rest.Lambda(p, remediation.Operations(p)))
}
