package ses_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"lamplighter.dev/shared/engine/mail"
	"lamplighter.dev/shared/engine/mail/ses"
	"lamplighter.dev/shared/foundation/fault"
)

const from = "no-reply@lamplighter.test"

var message = mail.Message{
	ID: "mail_1", To: "ada@example.com", Subject: "Ærø: 042137", Text: "Hello, Ærø.\n\n.\n",
	Date: time.Date(2026, time.March, 10, 9, 0, 0, 0, time.UTC),
}

func reachEndpoint(endpoint string) aws.Config {
	return aws.Config{
		Region: "eu-west-1", BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
		Retryer:     func() aws.Retryer { return aws.NopRetryer{} },
	}
}

func TestWhatMayPassAndWhatMayNot(t *testing.T) {
	for name, tt := range map[string]struct {
		status int
		code   string
		want   fault.Kind
	}{
		"a message that is rejected":   {400, "MessageRejected", fault.Invalid},
		"an address that is malformed": {400, "BadRequestException", fault.Invalid},
		"a limit":                      {429, "TooManyRequestsException", fault.Unavailable},
		"sending that is paused":       {400, "SendingPausedException", fault.Unavailable},
		"a service that is down":       {503, "ServiceUnavailable", fault.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("X-Amzn-ErrorType", tt.code)
				w.WriteHeader(tt.status)
				io.WriteString(w, `{"message":"no"}`)
			}))
			defer srv.Close()
			if err := ses.New(reachEndpoint(srv.URL), from).Send(t.Context(), message); !fault.Is(err, tt.want) {
				t.Errorf("kind %d: %v", fault.KindOf(err), err)
			}
		})
	}
}

func TestAStageWithoutASenderSaysSo(t *testing.T) {
	if err := ses.New(reachEndpoint("http://127.0.0.1:9"), "").Send(t.Context(), message); !fault.Is(err,
		fault.Invalid) {
		t.Error(err)
	}
}
