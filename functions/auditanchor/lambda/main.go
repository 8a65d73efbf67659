// Command auditanchor records the heads of the chains of the audit log outside of the table, each night.
package main

import (
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/auditanchor"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive/s3"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
)

func main() {
	p := platform.OpenLambda(auditanchor.Declaration, platform.WithAnchorKeys)
	p.Vault = s3.NewVault(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_ANCHORS"))
	lambda.Start(lambdacall.Function(lambdacall.Handler(p.Logged(workflow.Handler(auditanchor.Handler(p))))))
}
