// Command smarttags answers the operations of the group Smart Tags.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/smarttags"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(smarttags.Declaration)
	lambda.Start(rest.Lambda(p, smarttags.Operations(p)))
}
