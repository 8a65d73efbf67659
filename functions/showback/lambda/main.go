// Command showback answers the operations of the group Showback (Cost Attribution).
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/showback"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

func main() {
	p := platform.OpenLambda(showback.Declaration)
	lambda.Start(rest.Lambda(p, showback.Operations(p)))
}
