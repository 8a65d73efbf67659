package webhooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	standard "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"lamplighter.dev/shared/domain/receiver"
	"lamplighter.dev/shared/foundation/fault"
)

// maxText is the most characters that are kept of each text from a service.
const maxText = 200

// payload holds the stored fields of incoming webhooks of both services (GitHub: "push" and "pull_request"; GitLab:
// "Push Hook" and "Merge Request Hook").
type payload struct {
	Ref         string `json:"ref"`
	After       string `json:"after"`
	CheckoutSHA string `json:"checkout_sha"`
	Repository  struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Project struct {
		Path string `json:"path_with_namespace"`
	} `json:"project"`
	PullRequest struct {
		Head struct {
			Ref string `json:"ref"`
			SHA string `json:"sha"`
		} `json:"head"`
	} `json:"pull_request"`
	MergeRequest struct {
		Branch string `json:"source_branch"`
		Last   struct {
			ID string `json:"id"`
		} `json:"last_commit"`
	} `json:"object_attributes"`
}

// decode decodes a body, which must be an object. It ignores members of an unexpected type, because services send many
// kinds of events.
func (p *payload) decode(body []byte) error {
	err := json.Unmarshal(body, p)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other &&
		bytes.HasPrefix(bytes.TrimSpace(body), []byte("{")) {
		return nil
	}
	return err
}

func (p *payload) received() receiver.Received {
	return receiver.Received{
		Repository: fault.CleanText(cmp.Or(p.Repository.FullName, p.Project.Path), maxText),
		Ref:        fault.CleanText(cmp.Or(p.Ref, p.PullRequest.Head.Ref, p.MergeRequest.Branch), maxText),
		Commit: fault.CleanText(cmp.Or(p.CheckoutSHA, p.After, p.PullRequest.Head.SHA, p.MergeRequest.Last.ID),
			maxText),
	}
}

// GitHubInput is a webhook of GitHub (docs.github.com, "Validating webhook deliveries").
type GitHubInput struct {
	Inbound
	Signature string `header:"X-Hub-Signature-256" maxLength:"128" doc:"sha256= and the HMAC-SHA256 of the body in hexadecimal"`
	Event     string `header:"X-GitHub-Event" maxLength:"128" example:"push"`
	Delivery  string `header:"X-GitHub-Delivery" maxLength:"128" doc:"The unique id of this delivery"`
	RawBody   []byte
	Body      json.RawMessage `doc:"As the service documents it"`
}

func (s *service) receiveGitHub(ctx context.Context, in *GitHubInput) (Receipt, error) {
	d := delivered{
		Inbound: in.Inbound, kind: receiver.GitHub, event: in.Event, delivery: in.Delivery,
		body: in.RawBody,
	}
	// GitHub signs only the body, so an attacker could repeat it with another delivery ID. Therefore the body is a
	// mark as well.
	d.marks = []string{"body " + string(in.RawBody)}
	if in.Delivery != "" {
		d.marks = append(d.marks, "delivery "+in.Delivery)
	}
	d.verify = func(secret string) bool { return signedByGitHub(secret, in.Signature, in.RawBody) }
	return s.take(ctx, &d)
}

func signedByGitHub(secret, signature string, body []byte) bool {
	sent, err := hex.DecodeString(strings.TrimPrefix(signature, "sha256="))
	h := hmac.New(sha256.New, []byte(secret))
	h.Write(body)
	return err == nil && strings.HasPrefix(signature, "sha256=") && hmac.Equal(sent, h.Sum(nil))
}

// GitLabInput is a webhook of GitLab (docs.gitlab.com, "Webhooks"), with a secret token or signed as in Standard
// Webhooks.
type GitLabInput struct {
	Inbound
	Token     string `header:"X-Gitlab-Token" maxLength:"128" doc:"The secret token; not needed where the webhook is signed"`
	Event     string `header:"X-Gitlab-Event" maxLength:"128" example:"Push Hook"`
	EventUUID string `header:"X-Gitlab-Event-UUID" maxLength:"128" doc:"The unique id of this delivery if GitLab sends no Idempotency-Key"`
	Key       string `header:"Idempotency-Key" hidden:"true"`
	ID        string `header:"webhook-id" maxLength:"128" doc:"The unique id of a signed delivery"`
	Timestamp string `header:"webhook-timestamp" maxLength:"32" doc:"When it was signed, in seconds since 1970"`
	Signature string `header:"webhook-signature" maxLength:"1024" doc:"v1, and the HMAC-SHA256 of id.timestamp.body in base64"`
	RawBody   []byte
	Body      json.RawMessage `doc:"As the service documents it"`
}

func (s *service) receiveGitLab(ctx context.Context, in *GitLabInput) (Receipt, error) {
	d := delivered{Inbound: in.Inbound, kind: receiver.GitLab, event: in.Event, body: in.RawBody}
	// A webhook that was caused by another one has the same X-Gitlab-Event-UUID, so this header is the last choice.
	d.delivery = cmp.Or(in.ID, in.Key, in.EventUUID)
	d.marks = []string{"body " + string(in.RawBody)}
	if d.delivery != "" {
		d.marks = []string{"delivery " + d.delivery}
	}
	d.verify = func(secret string) bool {
		if in.Signature != "" {
			return signedByGitLab(secret, in, s.p.Clock.Now())
		}
		return subtle.ConstantTimeCompare([]byte(in.Token), []byte(secret)) == 1
	}
	return s.take(ctx, &d)
}

// signedByGitLab verifies a signature with the library, and its time with our clock.
func signedByGitLab(secret string, in *GitLabInput, now time.Time) bool {
	at, err := strconv.ParseInt(in.Timestamp, 10, 64)
	if err != nil || now.Sub(time.Unix(at, 0)).Abs() > maxWebhookAge {
		return false
	}
	w, err := standard.NewWebhook(secret)
	if err != nil {
		return false
	}
	h := http.Header{}
	h.Set(standard.HeaderWebhookID, in.ID)
	h.Set(standard.HeaderWebhookTimestamp, in.Timestamp)
	h.Set(standard.HeaderWebhookSignature, in.Signature)
	return w.VerifyIgnoringTimestamp(in.RawBody, h) == nil
}
