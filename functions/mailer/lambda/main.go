// Command mailer sends the mails that the table's stream brings, and, each minute, tries again what could not be sent.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/mail/ses"
	"lamplighter.dev/shared/engine/mail/smtp"
	"lamplighter.dev/shared/engine/table"
)

func main() {
	p := platform.OpenLambda(mailer.Declaration)
	by, err := sender(os.Getenv)
	if err != nil {
		p.Log.Error("the function cannot start", slog.String("error", err.Error()))
		os.Exit(1)
	}
	deliver, retry := mailer.Handler(p, by), mailer.RetryHandler(p, by)
	lambda.Start(func(ctx context.Context, input json.RawMessage) error {
		var e events.DynamoDBEvent
		if err := json.Unmarshal(input, &e); err != nil {
			return fmt.Errorf("read the event: %w", err)
		}
		if len(e.Records) == 0 { // the schedule's
			return retry(ctx)
		}
		items, err := table.FeedItems(e)
		if err != nil {
			return err
		}
		return deliver(ctx, items)
	})
}

// sender returns the operator's mail server, or else Amazon SES.
func sender(getenv func(string) string) (mail.Sender, error) {
	from := getenv("LAMPLIGHTER_MAIL_FROM")
	if address := getenv("LAMPLIGHTER_SMTP_URL"); address != "" {
		return smtp.New(address, from)
	}
	return ses.New(platform.AWS(getenv), from), nil
}
