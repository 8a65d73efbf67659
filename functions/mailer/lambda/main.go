// Command mailer sends the mails of the table's stream and retries, each minute, the mails that failed.
package main

import (
	"errors"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

func main() {
	p := platform.OpenLambda(mailer.Declaration)
	sender, badSender := newSender(p.Settings.MailServer, os.Getenv)
	rate, badRate := mailsPerSecond(os.Getenv)
	if err := errors.Join(badSender, badRate); err != nil {
		p.Log.Error("the function cannot start", slog.String("error", err.Error()))
		os.Exit(1)
	}
	lambda.Start(table.FeedHandler(mailer.New(p, sender, rate), p.Log))
}
