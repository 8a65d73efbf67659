package kubeconfig

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"strings"
	"time"
)

// The bounds of an Access, so that it fits into one item of the store with room to spare.
const (
	maxToken = 16 << 10
	maxPEM   = 64 << 10
)

// assembleAccess decodes and checks the secrets.
func assembleAccess(c cluster, u user, now time.Time) (Access, error) {
	a := Access{Server: c.Server, ServerName: c.ServerName, Token: strings.TrimSpace(u.Token)}
	if err := token(a.Token); err != nil {
		return Access{}, err
	}
	var err error
	if a.Authority, err = data("certificate-authority-data", c.Authority); err != nil {
		return Access{}, err
	}
	if len(a.Authority) > 0 && !x509.NewCertPool().AppendCertsFromPEM(a.Authority) {
		return Access{}, errInvalid("certificate-authority-data holds no certificate")
	}
	if a.Certificate, err = data("client-certificate-data", u.Certificate); err != nil {
		return Access{}, err
	}
	if a.Key, err = data("client-key-data", u.Key); err != nil {
		return Access{}, err
	}
	return a, a.certified(now)
}

// token refuses tokens that are not allowed in a header.
func token(t string) error {
	if len(t) > maxToken {
		return errInvalid("token is longer than %d bytes", maxToken)
	}
	if strings.ContainsFunc(t, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errInvalid("token holds characters that no token has")
	}
	return nil
}

// data decodes a field of base64. Editors break long lines, so it ignores whitespace.
func data(field, value string) ([]byte, error) {
	if value == "" {
		return nil, nil
	}
	b, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(value), ""))
	if err != nil {
		return nil, errInvalid("%s is not base64", field)
	}
	if len(b) > maxPEM {
		return nil, errInvalid("%s is longer than %d bytes", field, maxPEM)
	}
	return b, nil
}

// certified checks that certificate and key belong together and have not ended.
func (a Access) certified(now time.Time) error {
	switch {
	case len(a.Certificate) == 0 && len(a.Key) == 0:
		return nil
	case len(a.Certificate) == 0:
		return errInvalid("client-certificate-data is missing beside client-key-data")
	case len(a.Key) == 0:
		return errInvalid("client-key-data is missing beside client-certificate-data")
	}
	if sealed(a.Key) {
		return errInvalid("client-key-data is encrypted with a passphrase: give the key without one")
	}
	pair, err := tls.X509KeyPair(a.Certificate, a.Key)
	if err != nil {
		return errInvalid("client-certificate-data and client-key-data are not a certificate and its key")
	}
	if end := pair.Leaf.NotAfter; now.After(end) {
		return errInvalid("the client certificate ended on %s: renew it", end.UTC().Format(time.RFC3339))
	}
	return nil
}

func sealed(key []byte) bool {
	block, _ := pem.Decode(key)
	return block != nil && (bytes.Contains([]byte(block.Type), []byte("ENCRYPTED")) || block.Headers["DEK-Info"] != "")
}
