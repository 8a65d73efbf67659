// Command billingsync imports bills, every night and when its machine calls it.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/billingsync"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud/providers"
	"lamplighter.dev/shared/engine/archive/s3"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(billingsync.Declaration)
	p.Inbox = s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_ARCHIVE"))
	p.Lines = s3.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_LINE_ITEMS"))
	lambda.Start(workflow.LambdaHandler(p.Logged(billingsync.Handler(p, providers.New(p)))))
}
