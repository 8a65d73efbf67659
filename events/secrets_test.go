package events_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/testkit/lambdaemulator"
)

// A built function whose secret is missing ends with one line that names it.
func TestStart_EndsWithOneLineWithoutItsSecret(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short: no function was built and none was started without its secret")
	}
	if err := buildAll(); err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Amz-Target") != "secretsmanager.GetSecretValue" {
			t.Errorf("before its secrets a function asks for %s", r.Header.Get("X-Amz-Target"))
		}
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write([]byte(`{"__type":"ResourceNotFoundException","Message":"can't find the secret"}`))
	}))
	defer srv.Close()
	for function, variable := range map[string]string{
		"auth": "LAMPLIGHTER_PEPPER_FROM", "mailer": "LAMPLIGHTER_SMTP_URL_FROM",
	} {
		env := append(environment(srv.URL), variable+"=gone", "LAMPLIGHTER_MAIL_FROM=no-reply@example.com")
		f, err := lambdaemulator.StartFunction(bootstrap(t, function), env...)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		_, err = f.Invoke(ctx, []byte(stray))
		cancel()
		f.Close()
		log := strings.TrimSpace(f.Log())
		if err == nil || strings.Contains(log, "\n") || !strings.Contains(log, "the function cannot start") ||
			!strings.Contains(log, variable) || !strings.Contains(log, `gone`) {
			t.Errorf("%s: %v; its log is\n%s", function, err, log)
		}
	}
}
