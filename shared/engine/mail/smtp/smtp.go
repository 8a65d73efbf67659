// Package smtp sends mails through a mail server. It is separate from package mail so that only the mailer and
// cmd/lamplighter link it.
package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// dialogueTimeout limits one dialogue with the server.
const dialogueTimeout = 10 * time.Second

// The default ports of RFC 6409 and RFC 8314.
const (
	submission  = "587"
	submissions = "465"
)

// Sender sends messages from one address through one server. It dials for each message. Mails are rare, and an idle
// connection would often be closed when it is needed.
type Sender struct {
	host    string
	from    string
	options []gomail.Option
}

// New returns a Sender with the address `from` through the server at address. smtp://user:password@host:port upgrades
// the connection with STARTTLS and sends nothing without it. smtps:// starts with TLS. ?tls=optional lets smtp://
// continue without TLS if the server has none, but it never sends a password then. Errors do not contain the address,
// because it holds a password.
func New(address, from string) (*Sender, error) { return newSender(address, from, nil) }

// newSender trusts the certificate authorities of roots, or those of the system if roots is nil.
func newSender(address, from string, roots *x509.CertPool) (*Sender, error) {
	if err := mail.CheckSender(from); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "smtp" && u.Scheme != "smtps" || u.Path != "" && u.Path != "/" {
		return nil, errors.New("the address of the mail server is not of the form smtp://user:password@host:port or " +
			"smtps://…")
	}
	s := &Sender{host: u.Hostname(), from: from}
	if s.options, err = clientOptions(u, roots); err != nil {
		return nil, err
	}
	_, domain, _ := strings.Cut(from, "@")
	s.options = append(s.options, gomail.WithHELO(domain))
	if _, err = gomail.NewClient(s.host, s.options...); err != nil {
		return nil, fmt.Errorf("prepare a client of the mail server %s: %w", s.host, err)
	}
	return s, nil
}

func clientOptions(u *url.URL, roots *x509.CertPool) ([]gomail.Option, error) {
	usual, transport := submission, gomail.WithTLSPolicy(gomail.TLSMandatory)
	optional := u.Query().Get("tls") == "optional"
	switch {
	case u.Scheme == "smtps":
		usual, transport = submissions, gomail.WithSSL()
	case optional:
		transport = gomail.WithTLSPolicy(gomail.TLSOpportunistic)
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), usual), 10, 16)
	if err != nil || port == 0 {
		return nil, errors.New("the address of the mail server has an invalid port: use 1 to 65535")
	}
	out := []gomail.Option{
		transport, gomail.WithPort(int(port)),
		gomail.WithTLSConfig(&tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, RootCAs: roots}),
	}
	if u.User == nil {
		return out, nil
	}
	password, _ := u.User.Password()
	return append(out, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover), gomail.WithUsername(u.User.Username()),
		gomail.WithPassword(password)), nil
}

// Send sends m to the server. It returns fault.Invalid if the server refuses the address or the message permanently
// (5yz). All other errors may be temporary.
func (s *Sender) Send(ctx context.Context, m mail.Message) error {
	letter, err := s.newLetter(m)
	if err != nil {
		return fault.NewWithCause(fault.Invalid, err, "mail %s cannot be written", m.ID)
	}
	client, err := gomail.NewClient(s.host, append(slices.Clone(s.options), gomail.WithTimeout(remainingTime(ctx)))...)
	if err != nil {
		return fault.NewWithCause(fault.Unavailable, err, "there is no time left for mail %s", m.ID)
	}
	err = client.DialAndSendWithContext(ctx, letter)
	// the server accepted it; an error while closing the connection does not matter
	if err == nil || letter.IsDelivered() {
		return nil
	}
	refused, ok := errors.AsType[*gomail.SendError](err)
	if ok && refused.ErrorCode() >= 500 {
		return fault.NewWithCause(fault.Invalid, err, "the mail server refused mail %s", m.ID)
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok && dns.IsNotFound {
		return fault.NewWithCause(fault.Unavailable, err, "there is no mail server %s", s.host)
	}
	return fault.NewWithCause(fault.Unavailable, err, "the mail server did not take mail %s", m.ID)
}

// remainingTime returns how long the dialogue may take. Reads and writes of the mail library do not end with ctx.
func remainingTime(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return dialogueTimeout
	}
	return min(dialogueTimeout, end.Sub(clock.System{}.Now()))
}

// newLetter returns the message with the same headers as mail.Message.FormatRFC5322.
func (s *Sender) newLetter(m mail.Message) (*gomail.Msg, error) {
	out := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	err := errors.Join(out.FromFormat("Lamplighter", s.from), out.To(m.To))
	out.Subject(m.Subject)
	out.SetDateWithValue(m.Date)
	out.SetMessageIDWithValue(m.ID + "@lamplighter")
	out.SetGenHeader("Auto-Submitted", "auto-generated")
	for _, h := range m.UnsubscribeHeaders() {
		out.SetGenHeader(gomail.Header(h[0]), h[1])
	}
	out.SetBodyString(gomail.TypeTextPlain, m.Text)
	if m.HTML != "" {
		out.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return out, err
}

var _ mail.Sender = (*Sender)(nil)
