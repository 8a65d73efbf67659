// Package ses sends mails through Amazon SES. API functions import package mail to queue mails, so ses is separate:
// only the mailer links the SES client.
package ses

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"
	"github.com/aws/aws-sdk-go-v2/service/sesv2/types"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/foundation/fault"
)

// Sender sends messages from one address.
type Sender struct {
	client *sesv2.Client
	from   string
}

// New returns a Sender with the address `from`. Its identity must be verified in the account that cfg opens.
func New(cfg aws.Config, from string) *Sender {
	return &Sender{sesv2.NewFromConfig(cfg), from}
}

// Send sends m unchanged through SES. It returns fault.Invalid if the stage has no sender address.
func (s *Sender) Send(ctx context.Context, m mail.Message) error {
	if s.from == "" {
		return fault.NewWithCause(fault.Invalid, errors.New("LAMPLIGHTER_MAIL_FROM is empty"),
			"this stage has no sender of mails")
	}
	_, err := s.client.SendEmail(ctx, &sesv2.SendEmailInput{
		FromEmailAddress: aws.String(s.from),
		Destination:      &types.Destination{ToAddresses: []string{m.To}},
		Content:          &types.EmailContent{Raw: &types.RawMessage{Data: m.FormatRFC5322(s.from)}},
	})
	if isPermanent(err) {
		return fault.NewWithCause(fault.Invalid, err, "the mail service refused mail %s", m.ID)
	}
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the mail service did not take mail %s", m.ID)
	}
	return nil
}

// isPermanent reports whether SES will never accept this message. All other errors, including SES's rate limits, may be
// temporary.
func isPermanent(err error) bool {
	_, rejected := errors.AsType[*types.MessageRejected](err)
	_, wrong := errors.AsType[*types.BadRequestException](err)
	return rejected || wrong
}

var _ mail.Sender = (*Sender)(nil)
