// Command links makes the addresses of uploads and the links to downloads, while a caller waits.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/links"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive/s3"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(links.Declaration)
	files := s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_ARCHIVE"))
	p.Inbox, p.Outbox = files, files
	lambda.Start(workflow.LambdaHandler(p.Logged(links.Handler(p))))
}
