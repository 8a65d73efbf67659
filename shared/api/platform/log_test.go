package platform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
)

// check 88, of the log itself: a careless line reveals no secret.
func TestALogTellsNoSecret(t *testing.T) {
	const hush = "hush-hush"
	type account struct{ Name, Password string }
	careless := []slog.Attr{
		slog.String("password", hush), slog.String("clientSecret", hush), slog.String("Authorization", "Bearer "+hush),
		slog.String("Set-Cookie", hush),
		slog.String("otp", hush), slog.String("code", hush), slog.String("apiKey", hush),
		slog.String("X-Amz-Signature", hush),
		slog.String("webhookURL", "https://example.com/"+hush), slog.String("assertion", hush),
		slog.String("refreshToken", hush),
		slog.String("error", "it was Bearer "+hush), slog.String("url", "https://example.com/x?q="+hush),
		slog.Any("cause", errors.New("lampr_"+hush)),
		slog.Any("wrapped", fmt.Errorf("dial: %w", errors.New("https://me:"+hush+"@example.com/"))),
		slog.Any("account", account{"a", hush}),
		slog.Any("bytes", []byte(hush)), slog.Any("list", []string{hush}),
		slog.Any("map", map[string]string{"a": hush}), slog.Int("pin", 424242),
		slog.Group("request", slog.String("token", hush), slog.Group("more", slog.String("secret", hush))),
		slog.Any("pointer", &account{"a", hush}),
	}
	for name, log := range map[string]func(*bytes.Buffer) *slog.Logger{
		"of a Lambda":   func(b *bytes.Buffer) *slog.Logger { return JSONLog(b) },
		"of a terminal": func(b *bytes.Buffer) *slog.Logger { return TextLog(b, slog.LevelInfo) },
	} {
		t.Run(name, func(t *testing.T) {
			for _, a := range careless {
				var b bytes.Buffer
				log(&b).LogAttrs(t.Context(), slog.LevelError, "careless", a)
				log(&b).With(a).WithGroup("g").Info("careless")
				if s := b.String(); strings.Contains(s, hush) || strings.Contains(s, "424242") ||
					strings.Count(s, "careless") != 2 {
					t.Errorf("%s: %s", a.Key, s)
				}
			}
		})
	}
}

func TestALogTellsWhatIsNone(t *testing.T) {
	var b bytes.Buffer
	JSONLog(&b).Error("a mail is given up", "mail", "mail_1", "tries", 6, "why", "451 try later\nnext", "took",
		time.Second, "ok", true,
		"error", errors.New("read org_1: refused"), "url", "https://example.com/path", "tokenID", "pat_1", "statusCode",
		404, "password", "", "nothing", nil)
	var got map[string]any
	// check 57, of log lines
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || strings.Count(b.String(), "\n") != 1 {
		t.Fatalf("%v: %s", err, b.String())
	}
	for name, want := range map[string]any{
		"msg": "a mail is given up", "level": "ERROR", "mail": "mail_1", "tries": 6.0, "why": "451 try later\nnext",
		"ok": true, "error": "read org_1: refused",
		"url": "https://example.com/path", "tokenID": "pat_1", "statusCode": 404.0, "password": "", "nothing": nil,
		"took": 1e9,
	} {
		if got[name] != want {
			t.Errorf("%s is %v, want %v", name, got[name], want)
		}
	}
	if _, err := time.Parse(time.RFC3339, got["time"].(string)); err != nil {
		t.Error(err)
	}
	b.Reset()
	if TextLog(&b, slog.LevelWarn).Info("quiet"); b.Len() != 0 {
		t.Errorf("below its level: %s", b.String())
	}
}

// BenchmarkLine measures the line that each request writes in AWS, with its CloudWatch metrics.
func BenchmarkLine(b *testing.B) {
	p := &Platform{Log: JSONLog(io.Discard), Settings: Settings{Stage: "prod"}}
	now := time.Now()
	b.ReportAllocs()
	for b.Loop() {
		p.Log.LogAttrs(b.Context(), slog.LevelInfo, "request",
			append(p.Used(now, table.Usage{RoundTrips: 2, ReadUnits: 1.5}, 0),
				slog.String("method", "GET"), slog.String("route", "/resource-groups/{groupID}"),
				slog.Int("status", 200),
				slog.Float64("ms", 1.5), slog.Bool("late", false),
				slog.String("request_id", "gw_01k8z3v5y0e6m9x2q4t7r1c8bd"),
				slog.String("org", "org_01k8z3v5y0e6m9x2q4t7r1c8bd"),
				slog.String("user", "usr_01k8z3v5y0e6m9x2q4t7r1c8bd"))...)
	}
}
