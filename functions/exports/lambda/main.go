// Command exports answers the operations of the group Reports & Analytics that hand costs out as files.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/exports"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(exports.Declaration)
	lambda.Start(rest.Lambda(p, exports.Operations(p)))
}
