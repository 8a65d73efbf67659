package token

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"lamplighter.dev/shared/foundation/clock"
)

func TestDocuments_AreVerifiedByTypeAndKey(t *testing.T) {
	c := clock.NewManual(time.Date(2026, 3, 10, 9, 0, 0, 0, time.UTC))
	ring, err := OpenKeyFile(filepath.Join(t.TempDir(), "tokens.pem"), c)
	if err != nil {
		t.Fatal(err)
	}
	other, err := OpenKeyFile(filepath.Join(t.TempDir(), "tokens.pem"), c)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := SignDocument(t.Context(), ring, "a+jwt", []byte(`{"a":1}`))
	if err != nil {
		t.Fatal(err)
	}
	keys, _ := ring.Accepted(t.Context())
	foreign, _ := other.Accepted(t.Context())
	signature := strings.LastIndexByte(signed, '.') + 1
	altered := byte('A')
	if signed[signature] == altered {
		altered = 'B'
	}
	resigned := signed[:signature] + string(altered) + signed[signature+1:]
	for name, tt := range map[string]struct {
		set      jose.JSONWebKeySet
		typ      string
		document string
		says     string
	}{
		"as it was signed":       {keys, "a+jwt", signed, ""},
		"as another type":        {keys, "b+jwt", signed, "of the type"},
		"with another body":      {keys, "a+jwt", strings.Replace(signed, ".ey", ".eX", 1), "not valid"},
		"with another signature": {keys, "a+jwt", resigned, "not valid"},
		"of another key":         {foreign, "a+jwt", signed, "none of the given"},
		"of no form":             {keys, "a+jwt", "a.b", "not a signed document"},
	} {
		body, err := VerifyDocument(tt.set, tt.typ, tt.document)
		if tt.says == "" && (err != nil || string(body) != `{"a":1}`) ||
			tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
			t.Errorf("%s: %s, %v; want %q", name, body, err, tt.says)
		}
		if tt.says != "" && body != nil && !errors.Is(err, ErrUnknownKey) {
			t.Errorf("%s: a body is returned: %s", name, body)
		}
	}
	if _, err = NewJWTs(ring, "https://here", c).Verify(t.Context(), signed); err == nil {
		t.Error("a document is good as an access token")
	}
	if _, err = SignDocument(t.Context(), ring, tokenType, []byte(`{}`)); err == nil {
		t.Error("an access token is signed as a document")
	}
}
