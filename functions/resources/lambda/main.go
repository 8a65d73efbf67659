// Command resources answers the operations of the group Resources.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/resources"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/rest"
)

func main() {
	p := platform.Open()
	lambda.Start(rest.Lambda(p, resources.Operations(p)))
}
