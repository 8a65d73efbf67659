// Command mailer sends the mails that the table's stream brings, and, each minute, tries again what could not be sent.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strconv"

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
	rate, badRate := ratePerSecond(os.Getenv)
	if err = errors.Join(err, badRate); err != nil {
		p.Log.Error("the function cannot start", slog.String("error", err.Error()))
		os.Exit(1)
	}
	m := mailer.New(p, by, rate)
	lambda.Start(func(ctx context.Context, input json.RawMessage) (any, error) {
		var e events.DynamoDBEvent
		if err := json.Unmarshal(input, &e); err != nil {
			return nil, fmt.Errorf("read the event: %w", err)
		}
		if len(e.Records) == 0 { // the schedule's
			return nil, m.Round(ctx)
		}
		return deliver(ctx, p, m, e)
	})
}

// deliver hands the mails of an event to the mailer, and tells Lambda which to deliver again.
func deliver(ctx context.Context, p *platform.Platform, m *mailer.Mailer, e events.DynamoDBEvent) (any, error) {
	items, err := table.FeedItems(e)
	if err != nil {
		return nil, err
	}
	var again []table.Key
	for _, f := range m.Deliver(ctx, items) {
		p.Log.WarnContext(ctx, "a mail could not be taken and is delivered again", "mail", f.SK, "error", f.Err.Error())
		again = append(again, f.Key)
	}
	return table.ReportFailures(e, again...), nil
}

// ratePerSecond reads LAMPLIGHTER_MAIL_RATE.
func ratePerSecond(getenv func(string) string) (int, error) {
	v := getenv("LAMPLIGHTER_MAIL_RATE")
	if v == "" {
		return mailer.DefaultRate, nil
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("the variable LAMPLIGHTER_MAIL_RATE is %q; it must be a number of mails a second, "+
			"1 or more", v)
	}
	return n, nil
}

// sender returns the operator's mail server, or else Amazon SES.
func sender(getenv func(string) string) (mail.Sender, error) {
	from := getenv("LAMPLIGHTER_MAIL_FROM")
	if address := getenv("LAMPLIGHTER_SMTP_URL"); address != "" {
		return smtp.New(address, from)
	}
	return ses.New(platform.AWS(getenv), from), nil
}
