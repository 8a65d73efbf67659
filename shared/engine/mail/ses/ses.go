// Package ses sends mails through Amazon SES. It stands apart from package mail, which API functions import to queue
// mails, so that only the mailer links the service's client.
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

// New sends from the address from, of an identity that is verified in the account that cfg opens.
func New(cfg aws.Config, from string) *Sender {
	return &Sender{sesv2.NewFromConfig(cfg), from}
}

// Send hands m to SES as it is. Without a sender's address it is Invalid: the stage has been deployed without one.
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
	if refused(err) {
		return fault.NewWithCause(fault.Invalid, err, "the mail service refused mail %s", m.ID)
	}
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "the mail service did not take mail %s", m.ID)
	}
	return nil
}

// refused reports whether SES will never take this message; anything else, its own limits among it, may pass.
func refused(err error) bool {
	_, rejected := errors.AsType[*types.MessageRejected](err)
	_, wrong := errors.AsType[*types.BadRequestException](err)
	return rejected || wrong
}

var _ mail.Sender = (*Sender)(nil)
