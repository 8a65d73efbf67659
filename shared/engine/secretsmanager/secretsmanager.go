// Package secretsmanager reads secrets from AWS Secrets Manager. It makes one kind of request and signs it itself: the
// SDK's client would add megabytes to every function and time to every start.
package secretsmanager

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/engine/awsrequest"
	"lamplighter.dev/shared/foundation/clock"
)

const (
	attempts       = 3
	attemptTimeout = 2 * time.Second
	firstDelay     = 100 * time.Millisecond // before the second attempt; four times as long before the third
	maxAnswerBytes = 256 << 10              // a secret has at most 64 KiB
)

// Client reads secrets with the credentials of a configuration. It is safe for concurrent use.
type Client struct {
	cfg   aws.Config
	http  *http.Client
	clock clock.Clock
}

// New returns a Client. It makes no call. The clock provides the dates of signatures and the delays between attempts.
func New(cfg aws.Config, c clock.Clock) *Client {
	return &Client{cfg: cfg, http: &http.Client{Timeout: attemptTimeout}, clock: c}
}

// Read returns the text of a secret, which id names or whose ARN it is. It reads the version that is current. It makes
// up to three attempts of two seconds each while Secrets Manager does not answer or is throttling. Errors name the
// secret and the reason on one line, and never contain the secret.
func (c *Client) Read(ctx context.Context, id string) (string, error) {
	for attempt := 1; ; attempt++ {
		text, err := c.readOnce(ctx, id)
		if err == nil {
			return text, nil
		}
		if attempt == attempts || !isTemporary(err) {
			return "", fmt.Errorf("read the secret %q: %w", id, err)
		}
		if c.clock.Sleep(ctx, firstDelay<<(2*(attempt-1))) != nil {
			return "", fmt.Errorf("read the secret %q: %w", id, err)
		}
	}
}

// errNoText is the error for a secret that holds bytes, or nothing.
var errNoText = errors.New("it holds no text: store it as a SecretString that is not empty")

// readOnce makes one attempt.
func (c *Client) readOnce(ctx context.Context, id string) (string, error) {
	body, err := json.Marshal(map[string]string{"SecretId": id})
	if err != nil {
		return "", fmt.Errorf("encode the request: %w", err)
	}
	req, err := awsrequest.New(ctx, awsrequest.Service{
		Config: c.cfg, Name: "secretsmanager", Path: "/", At: c.clock.Now(),
	}, map[string]string{
		"Content-Type": "application/x-amz-json-1.1", "X-Amz-Target": "secretsmanager.GetSecretValue",
	}, body)
	if err != nil {
		return "", err
	}
	res, err := c.http.Do(req)
	if err != nil {
		return "", &unreachableError{err}
	}
	defer res.Body.Close() //nolint:errcheck // it is read to its end
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswerBytes))
	if err != nil {
		return "", &unreachableError{err}
	}
	if res.StatusCode != http.StatusOK {
		return "", parseRefusal(res.StatusCode, answer)
	}
	var out struct{ SecretString string }
	if json.Unmarshal(answer, &out) != nil || out.SecretString == "" {
		return "", errNoText
	}
	return out.SecretString, nil
}

// unreachableError is a failure without an answer.
type unreachableError struct{ cause error }

// Error returns the cause.
func (e *unreachableError) Error() string {
	return "Secrets Manager does not answer: " + strings.ReplaceAll(e.cause.Error(), "\n", " ")
}

// Unwrap returns the cause.
func (e *unreachableError) Unwrap() error { return e.cause }

// refusalError is an error answer of Secrets Manager.
type refusalError struct {
	status        int
	code, message string
}

// Error returns the answer's code and message, with the way out of the two common ones.
func (e *refusalError) Error() string {
	text := fmt.Sprintf("%d %s: %s", e.status, e.code, e.message)
	switch e.code {
	case "ResourceNotFoundException":
		text += " (create it, or correct the parameter that names it)"
	case "AccessDeniedException":
		text += " (the function's role needs secretsmanager:GetSecretValue on it, and kms:Decrypt on a key of your own)"
	}
	return text
}

// parseRefusal reads an error answer.
func parseRefusal(status int, answer []byte) error {
	var body struct {
		Type    string `json:"__type"`
		Message string // also "message": the decoder ignores case
	}
	_ = json.Unmarshal(answer, &body) // without a body that is JSON, the status says it all
	_, code, qualified := strings.Cut(body.Type, "#")
	if !qualified {
		code = body.Type
	}
	return &refusalError{status, code, strings.ReplaceAll(fmt.Sprintf("%.500s", body.Message), "\n", " ")}
}

// isTemporary reports whether another attempt may succeed.
func isTemporary(err error) bool {
	if refused, ok := errors.AsType[*refusalError](err); ok {
		return refused.status >= http.StatusInternalServerError || refused.status == http.StatusTooManyRequests ||
			strings.HasPrefix(refused.code, "Throttling") || refused.code == "TooManyRequestsException"
	}
	_, unreachable := errors.AsType[*unreachableError](err)
	return unreachable
}
