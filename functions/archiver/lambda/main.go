// Command archiver archives past months, each hour, and erases the archives of organizations that have ended.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/archiver"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive/s3"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(archiver.Declaration)
	p.Archive = s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_ARCHIVE"))
	p.Lines = s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_LINE_ITEMS"))
	lambda.Start(lambdacall.Function(lambdacall.Handler(p.Logged(workflow.Handler(archiver.Handler(p))))))
}
