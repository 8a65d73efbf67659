// Command mailer sends the mails that the table's stream brings.
package main

import (
	"context"
	"os"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/mail/ses"
	"lamplighter.dev/shared/platform"
	"lamplighter.dev/shared/table"
)

func main() {
	p := platform.Open()
	deliver := mailer.Handler(p, ses.New(platform.AWS(os.Getenv), os.Getenv("LAMPLIGHTER_MAIL_FROM")))
	lambda.Start(func(ctx context.Context, e events.DynamoDBEvent) error {
		items, err := table.FeedItems(e)
		if err != nil {
			return err
		}
		return deliver(ctx, items)
	})
}
