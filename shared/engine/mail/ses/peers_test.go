package ses_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sesv2"

	"lamplighter.dev/shared/engine/mail/ses"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// receivedMails returns the raw mails that moto has received.
func receivedMails(t *testing.T, endpoint string) (raw []string) {
	t.Helper()
	resp, err := http.Get(endpoint + "/moto-api/data.json")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var all struct {
		SES struct {
			RawMessage []struct {
				Source       string
				Destinations []string
				RawData      string `json:"raw_data"`
			}
		} `json:"ses"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&all); err != nil {
		t.Fatal(err)
	}
	for _, m := range all.SES.RawMessage {
		if m.Source != from || !slices.Contains(m.Destinations, message.To) {
			t.Errorf("from %s to %v", m.Source, m.Destinations)
		}
		raw = append(raw, m.RawData)
	}
	return raw
}

func TestSESOfMotoTakesAMailAsItIs(t *testing.T) {
	endpoint := tabletest.StartMoto(t)
	cfg := reachEndpoint(endpoint)
	if _, err := sesv2.NewFromConfig(cfg).CreateEmailIdentity(t.Context(),
		&sesv2.CreateEmailIdentityInput{EmailIdentity: aws.String(from)}); err != nil {
		t.Fatal(err)
	}
	if err := ses.New(cfg, from).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	if raw := receivedMails(t, endpoint); len(raw) != 1 || raw[0] != string(message.FormatRFC5322(from)) {
		t.Errorf("moto has %q", raw)
	}
	if err := ses.New(cfg, "nobody@lamplighter.test").Send(t.Context(), message); !fault.Is(err, fault.Invalid) {
		t.Errorf("from an address that is not verified: %v", err)
	}
}
