package platform

import (
	"io"
	"log/slog"
	"strings"
	"sync"

	"lamplighter.dev/shared/foundation/redact"
)

// JSONLog returns the log of a Lambda: one line of JSON for each record, without secrets.
func JSONLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: new(redactor).withoutSecrets}))
}

// TextLog returns the log of a terminal, from level on, without secrets.
func TextLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w,
		&slog.HandlerOptions{Level: level, ReplaceAttr: new(redactor).withoutSecrets}))
}

// redactor caches which attribute names are those of secrets. There are few names, because they are in the code.
type redactor struct{ secret sync.Map }

func (r *redactor) isSecret(name string) bool {
	if known, ok := r.secret.Load(name); ok {
		return known == true
	}
	secret := redact.IsSecretName(name)
	r.secret.Store(name, secret)
	return secret
}

// withoutSecrets replaces attributes with names of secrets, removes secrets from texts, and removes the query from
// addresses. Values other than texts, numbers, times and errors are not shown, because they may contain anything.
func (r *redactor) withoutSecrets(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		if r.isSecret(a.Key) && a.Value.String() != "" {
			return slog.String(a.Key, redact.Mark)
		}
		return slog.String(a.Key, redactText(a.Value.String()))
	case slog.KindAny:
		return r.redactOpaque(a)
	default:
		if r.isSecret(a.Key) && a.Value.Kind() != slog.KindBool {
			return slog.String(a.Key, redact.Mark)
		}
		return a
	}
}

// redactOpaque returns errors and levels as text, and of other types only the type.
func (r *redactor) redactOpaque(a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case nil, slog.Level, *slog.Source, embedded:
		return a
	case error:
		return r.withoutSecrets(nil, slog.String(a.Key, v.Error()))
	default:
		return slog.String(a.Key, redact.Mark)
	}
}

// redactText returns a text without secrets. If it is an address, it also removes the query.
func redactText(s string) string {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		s, _, _ = strings.Cut(s, "?")
	}
	return redact.WithoutSecrets(s)
}
