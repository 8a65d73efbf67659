// Command eraser runs the task of the erasure machine.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/eraser"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(eraser.Declaration)
	walk, err := eraser.ReadWalk(os.Getenv)
	if err != nil {
		p.Log.Error("the function cannot start", "error", err.Error())
		os.Exit(1)
	}
	lambda.Start(workflow.LambdaHandler(p.Logged(eraser.Handler(p, walk))))
}
