package sso

import (
	"context"
	"net/http"
	"strconv"

	"lamplighter.dev/functions/sso/saml"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

const fetchTries = 2

// fetchMetadata fetches metadata from an address given by a user, through ssrfguard. It fetches once per request, and
// never again by itself.
func (s service) fetchMetadata(ctx context.Context, address string) ([]byte, error) {
	client := ssrfguard.Policy{Private: s.Settings.PrivateAddresses}.HTTPClient()
	var err error
	for range fetchTries {
		var b []byte
		var retry bool
		if b, retry, err = fetchOnce(ctx, client, address); !retry {
			return b, err
		}
	}
	return nil, err
}

// fetchOnce sends one request, and reports whether another one could succeed. The other side's error text is not
// shown to the user.
func fetchOnce(ctx context.Context, client *http.Client, address string) (b []byte, retry bool, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, false, fault.NewWithCause(fault.Invalid, err, "metadataURL: it is not the address of a document")
	}
	w, err := client.Do(r)
	if err != nil {
		if fault.Is(err, fault.Invalid) {
			return nil, false, fault.NewWithCause(fault.Invalid, err, "metadataURL: %s", fault.Message(err))
		}
		return nil, true,
			fault.NewWithCause(fault.Invalid, err,
				"metadataURL: the server does not answer; send the document as metadataXML")
	}
	defer func() { _ = w.Body.Close() }()
	if w.StatusCode != http.StatusOK {
		return nil, w.StatusCode >= http.StatusInternalServerError, refuseStatus(w.StatusCode)
	}
	if b, err = ssrfguard.ReadLimited(w.Body, saml.MaxMetadata); err != nil {
		return nil, false,
			fault.NewWithCause(fault.Invalid, err,
				"metadataURL: the document could not be read, or is larger than 1 MiB")
	}
	return b, false, nil
}

func refuseStatus(status int) error {
	why := ""
	if status >= 300 && status < 400 {
		why = "; redirects are not followed, name the address itself"
	}
	return fault.New(fault.Invalid, "metadataURL: the answer has status %s%s", strconv.Itoa(status), why)
}
