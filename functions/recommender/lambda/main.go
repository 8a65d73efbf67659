// Command recommender evaluates the recommendation rules. It links no provider: stored price lists are enough.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/recommender"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(recommender.Declaration)
	lambda.Start(workflow.LambdaHandler(p.Logged(recommender.Handler(p, nil))))
}
