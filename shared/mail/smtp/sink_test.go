package smtp

import (
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
)

const (
	user     = "mailer"
	password = "a password of the mail server"
)

// letter is a mail as it arrived.
type letter struct{ From, To, Subject, Text string }

// sink is a mail server that keeps what it is given.
type sink struct {
	*gosmtp.Server
	roots  *x509.CertPool // that vouch for it
	refuse error          // what it says to every recipient
	drop   bool           // the line goes dead while it takes a message

	mu       sync.Mutex
	letters  []letter
	raw      []string
	loggedIn []bool // whether the session of each letter was
}

// newSink starts a server that knows one user. Change what it does before anybody calls.
func newSink(t *testing.T, change ...func(*sink)) (s *sink, address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s = &sink{}
	s.Server = gosmtp.NewServer(gosmtp.BackendFunc(func(c *gosmtp.Conn) (gosmtp.Session, error) {
		return &session{sink: s, conn: c}, nil
	}))
	s.Domain, s.AllowInsecureAuth, s.ErrorLog = "localhost", true, quiet{}
	s.ReadTimeout, s.WriteTimeout = 10*time.Second, 10*time.Second
	s.TLSConfig, s.roots = certified(t)
	for _, f := range change {
		f(s)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return s, l.Addr().String()
}

func (s *sink) received() []letter {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.letters)
}

type quiet struct{}

func (quiet) Printf(string, ...any) {}
func (quiet) Println(...any)        {}

// session is one dialogue with a sink.
type session struct {
	*sink
	conn     *gosmtp.Conn
	from, to string
	in       bool
}

func (s *session) AuthMechanisms() []string { return []string{sasl.Plain} }

func (s *session) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, name, word string) error {
		if s.in = name == user && word == password; !s.in {
			return gosmtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (s *session) Mail(from string, _ *gosmtp.MailOptions) error {
	s.from = from
	return nil
}

func (s *session) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	s.to = to
	return s.refuse
}

func (s *session) Data(r io.Reader) error {
	if s.drop {
		return s.conn.Conn().Close()
	}
	b, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	m, err := netmail.ReadMessage(strings.NewReader(string(b)))
	if err != nil {
		return err
	}
	if m.Header.Get("Content-Transfer-Encoding") == "quoted-printable" {
		m.Body = quotedprintable.NewReader(m.Body)
	}
	text, err := io.ReadAll(m.Body)
	subject, err2 := new(mime.WordDecoder).DecodeHeader(m.Header.Get("Subject"))
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letters = append(s.letters, letter{s.from, s.to, subject, strings.ReplaceAll(string(text), "\r\n", "\n")})
	s.raw, s.loggedIn = append(s.raw, string(b)), append(s.loggedIn, s.in)
	return errors.Join(err, err2)
}

func (s *session) Reset()        {}
func (s *session) Logout() error { return nil }

// certified makes a certificate for 127.0.0.1, and the pool that trusts it.
func certified(t *testing.T) (*tls.Config, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, pool
}
