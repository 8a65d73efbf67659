// Command eraser runs the task of the erasure machine.
package main

import (
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/eraser"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.Open()
	lambda.Start(workflow.Lambda(eraser.Handler(p)))
}
