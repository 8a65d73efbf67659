package sso

import (
	"encoding/base64"
	"mime"
	"net/url"
	"strings"

	"lamplighter.dev/shared/foundation/fault"
)

const (
	maxForm  = 256 << 10 // bytes
	formKind = "application/x-www-form-urlencoded"
)

// readForm returns the document in a form sent by a browser (HTTP-POST binding).
func readForm(kind string, form []byte) ([]byte, error) {
	if k, _, err := mime.ParseMediaType(kind); err != nil || k != formKind {
		return nil, fault.New(fault.Invalid, "body: Content-Type %.64q is not supported, send %s", kind, formKind)
	}
	if len(form) > maxForm {
		return nil, fault.New(fault.Invalid, "body: larger than 256 KiB")
	}
	values, err := url.ParseQuery(string(form))
	if err != nil || len(values["SAMLResponse"]) != 1 || values.Get("SAMLResponse") == "" {
		return nil, fault.New(fault.Invalid, "SAMLResponse: one is needed, as a field of a form")
	}
	doc, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(values.Get("SAMLResponse")), ""))
	if err != nil {
		return nil, fault.New(fault.Invalid, "SAMLResponse: not base64")
	}
	return doc, nil
}

// refuseLogin returns the error of a response that is not accepted. The sender gets the reason, because an
// administrator must fix it. The reason does not help to forge a response.
func refuseLogin(why string) error {
	return fault.New(fault.Unauthenticated, "SAMLResponse: %s"+startAgain, why)
}

const startAgain = "; begin again with POST /auth/saml/initiate"

// addStartAgain adds the way out to the error of a response that is not accepted.
func addStartAgain(err error) error {
	if !fault.Is(err, fault.Unauthenticated) {
		return err
	}
	return fault.NewWithCause(fault.Unauthenticated, err, "%s"+startAgain, fault.Message(err))
}
