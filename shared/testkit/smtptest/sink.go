// Package smtptest provides a mail server for tests of code that sends mails. Tests read the received mails, and
// choose which are refused.
package smtptest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"mime"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	gosmtp "github.com/emersion/go-smtp"

	"lamplighter.dev/shared/foundation/clock"
)

// The only user of a Sink.
const (
	User     = "mailer"
	Password = "a password of the mail server"
)

// Letter is a mail as it arrived.
type Letter struct {
	From, To, Subject, Text string
	Raw                     string // with its headers
	LoggedIn                bool   // whether the client had logged in
}

// Sink is a mail server that stores received mails.
type Sink struct {
	*gosmtp.Server
	Address string         // host:port
	Roots   *x509.CertPool // authorities of its certificate
	Refuse  error          // response to every recipient
	Drop    bool           // it closes the connection while it receives a message

	mu      sync.Mutex
	letters []Letter
	came    chan struct{} // closed when the first letter has arrived
}

// New starts a server that runs until the test ends. The functions `change` set it up before it accepts connections.
func New(tb testing.TB, change ...func(*Sink)) *Sink {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // ends with the test
	if err != nil {
		tb.Fatal(err)
	}
	s := &Sink{Address: l.Addr().String(), came: make(chan struct{})}
	s.Server = gosmtp.NewServer(gosmtp.BackendFunc(func(c *gosmtp.Conn) (gosmtp.Session, error) {
		return &session{Sink: s, conn: c}, nil
	}))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "localhost", true, quiet{}
	s.ReadTimeout, s.WriteTimeout = 10*time.Second, 10*time.Second
	s.TLSConfig, s.Roots = newCertificate(tb)
	for _, f := range change {
		f(s)
	}
	go func() { _ = s.Serve(l) }()
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// WithoutTLS makes a server without a certificate.
func WithoutTLS(s *Sink) { s.TLSConfig = nil }

// Received returns the mails that arrived so far.
func (s *Sink) Received() []Letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.letters)
}

// AwaitOne waits until a mail has arrived.
func (s *Sink) AwaitOne() { <-s.came }

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// session is one dialogue with a Sink.
type session struct {
	*Sink
	conn     *gosmtp.Conn
	from, to string
	in       bool
}

// AuthMechanisms returns the login mechanisms.
func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

// Auth logs the user in.
func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, word string) error {
		if s.in = name == User && word == Password; !s.in {
			return gosmtp.ErrAuthFailed
		}
		return nil
	}), nil
}

// Mail starts a letter.
func (s *session) Mail(from string, _ *gosmtp.MailOptions) error {
	s.from = from
	return nil
}

// Rcpt accepts or refuses a recipient.
func (s *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	s.to = to
	return s.Refuse
}

// Data receives a letter.
func (s *session) Data(r io.Reader) error {
	if s.Drop {
		return s.conn.Conn().Close()
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	text, subject, err := decodeLetter(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.letters) == 0 {
		close(s.came)
	}
	s.letters = append(s.letters, Letter{s.from, s.to, subject, text, string(b), s.in})
	return err
}

// decodeLetter returns the text and the subject of a mail.
func decodeLetter(b []byte) (text, subject string, err error) {
	m, err := netmail.ReadMessage(bytes.NewReader(b))
	if err != nil {
		return "", "", err
	}
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		m.Body = quotedprintable.NewReader(m.Body)
	}
	plain, err := io.ReadAll(m.Body)
	subject, err2 := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	return strings.ReplaceAll(string(plain), "\r\n", "\n"), subject, errors.Join(err, err2)
}

// Reset does nothing: only complete letters are stored.
func (s *session) Reset() {}

// Logout does nothing.
func (s *session) Logout() error { return nil }

// newCertificate returns a certificate for 127.0.0.1, and a pool that trusts it.
func newCertificate(tb testing.TB) (*tls.Config, *x509.CertPool) {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	now := clock.System{}.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		tb.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}
