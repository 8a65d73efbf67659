// Command exporter writes exports of costs into files, and removes expired files every hour.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/exporter"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive/s3"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(exporter.Declaration)
	files := s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_ARCHIVE"))
	p.Archive, p.Outbox = files, files
	p.Lines = s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_LINE_ITEMS"))
	lambda.Start(workflow.LambdaHandler(p.Logged(exporter.Handler(p))))
}
