package notification

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/ssrfguard"
)

const (
	mostRead    = 16 << 10 // bytes of a response
	mostSaid    = 200      // characters of a response in an error
	longestWait = time.Hour
)

// chats sends messages to chats.
type chats struct {
	rules  Rules
	client *http.Client
}

func newChats(r Rules) *chats { return &chats{r, r.Guard.HTTPClient()} }

// write encodes the body of a message for a type of chat. It is a switch, not a map, so that functions that send no
// messages do not link the writers.
func write(of Type, c *MessageContent) ([]byte, error) {
	switch of {
	case Slack:
		return WriteSlack(c)
	case Teams:
		return WriteTeams(c)
	default:
		return WriteGoogleChat(c)
	}
}

// send writes a message and posts it. The error has the kind Invalid when a retry cannot help. Errors do not contain
// the address, because it is a credential.
func (c *chats) send(ctx context.Context, of Type, address string, n *Notice) (delivery.Answer, error) {
	if err := c.rules.checkChat(of, address); err != nil {
		return delivery.Answer{}, err
	}
	content := ComposeMessage(n)
	body, err := write(of, &content)
	if err != nil {
		return delivery.Answer{}, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, threaded(of, address), bytes.NewReader(body))
	if err != nil {
		return delivery.Answer{}, fault.New(fault.Invalid, "the address of the chat cannot be read")
	}
	r.Header.Set("Content-Type", "application/json; charset=utf-8")
	resp, err := c.client.Do(r)
	if err != nil {
		return delivery.Answer{}, withoutAddress(err)
	}
	defer resp.Body.Close() //nolint:errcheck // it is only read
	said, err := ssrfguard.ReadLimited(resp.Body, mostRead)
	if err != nil { // the status alone decides
		said = nil
	}
	return classify(of, resp.StatusCode, resp.Header, string(said))
}

// threaded adds the query parameter that makes Google Chat reply in the thread named in the body.
func threaded(of Type, address string) string {
	u, err := url.Parse(address)
	if of != GoogleChat || err != nil {
		return address
	}
	q := u.Query()
	q.Set("messageReplyOption", "REPLY_MESSAGE_FALLBACK_TO_NEW_THREAD")
	u.RawQuery = q.Encode()
	return u.String()
}

// withoutAddress returns the error of a failed request without the address.
func withoutAddress(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	if fault.Is(err, fault.Invalid) {
		return fault.New(fault.Invalid, "config.webhookURL: %s", fault.Message(err))
	}
	why := "it cannot be reached"
	if errors.Is(err, context.DeadlineExceeded) {
		why = "it did not answer in time"
	}
	return fault.NewWithCause(fault.Unavailable, err, "the chat: %s", why)
}

// classify converts a response into a result: the message was accepted, may be accepted later, or never.
func classify(of Type, status int, header http.Header, said string) (delivery.Answer, error) {
	said = fault.CleanText(strings.TrimSpace(said), mostSaid-1) // and an ellipsis
	a := delivery.Answer{Status: status, Message: said}
	switch {
	case taken(of, status, said):
		return a, nil
	case status == http.StatusNotFound || status == http.StatusGone:
		a.Gone = true
		return a, fault.New(fault.Invalid, "the chat has no such webhook any more (%d %s): make a new one there and "+
			"change the channel", status, said)
	case status == http.StatusTooManyRequests || status >= http.StatusInternalServerError ||
		status == http.StatusRequestTimeout:
		a.RetryAfter = retryAfter(header)
		return a, fault.New(fault.Unavailable, "the chat did not take the message for now (%d %s)", status, said)
	}
	return a, fault.New(fault.Invalid, "the chat refused the message (%d %s)", status, said)
}

// taken reports whether the chat accepted the message. Slack answers "ok"; the page of another server does not.
func taken(of Type, status int, said string) bool {
	switch of {
	case Slack:
		return status == http.StatusOK && said == "ok"
	case Teams:
		return status == http.StatusAccepted || status == http.StatusOK
	case GoogleChat:
		return status == http.StatusOK
	case Email:
	}
	return false
}

// retryAfter returns the Retry-After header as a duration, at most longestWait.
func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return min(time.Duration(seconds)*time.Second, longestWait)
}
