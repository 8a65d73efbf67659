package main

import (
	"fmt"
	"strconv"

	"lamplighter.dev/functions/mailer"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/mail/ses"
	"lamplighter.dev/shared/engine/mail/smtp"
)

// mailsPerSecond returns LAMPLIGHTER_MAIL_RATE, or else the default rate.
func mailsPerSecond(getenv func(string) string) (int, error) {
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

// newSender returns the mail server at address, or else Amazon SES.
func newSender(address string, getenv func(string) string) (mail.Sender, error) {
	from := getenv("LAMPLIGHTER_MAIL_FROM")
	if address != "" {
		return smtp.New(address, from)
	}
	return ses.New(platform.AWS(getenv), from), nil
}
