package platform

import (
	"io"
	"log/slog"
	"strings"
	"sync"

	"lamplighter.dev/shared/foundation/redact"
)

// JSONLog returns the log of a Lambda: a line of JSON for each record, and no secret in any.
func JSONLog(w io.Writer) *slog.Logger {
	return slog.New(slog.NewJSONHandler(w, &slog.HandlerOptions{ReplaceAttr: new(redactor).withoutSecrets}))
}

// TextLog returns the log of a terminal, from level on, and no secret in it either.
func TextLog(w io.Writer, level slog.Level) *slog.Logger {
	return slog.New(slog.NewTextHandler(w,
		&slog.HandlerOptions{Level: level, ReplaceAttr: new(redactor).withoutSecrets}))
}

// redactor remembers which names are those of secrets: the names of attributes are written in the code, so there are few.
type redactor struct{ secret sync.Map }

func (r *redactor) isSecret(name string) bool {
	if known, ok := r.secret.Load(name); ok {
		return known == true
	}
	secret := redact.IsSecretName(name)
	r.secret.Store(name, secret)
	return secret
}

// withoutSecrets marks what is a secret by its name, cuts out of texts what looks like one, and leaves out the query of
// what is an address. What is neither a text, a number, a time nor an error is not shown: nobody can tell what is in it.
func (r *redactor) withoutSecrets(_ []string, a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		if r.isSecret(a.Key) && a.Value.String() != "" {
			return slog.String(a.Key, redact.Mark)
		}
		return slog.String(a.Key, shown(a.Value.String()))
	case slog.KindAny:
		return r.opaque(a)
	default:
		if r.isSecret(a.Key) && a.Value.Kind() != slog.KindBool {
			return slog.String(a.Key, redact.Mark)
		}
		return a
	}
}

// opaque returns a value of a type of its own: an error or a level is shown as it reads, anything else by its kind alone.
func (r *redactor) opaque(a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case nil, slog.Level, *slog.Source, embedded:
		return a
	case error:
		return r.withoutSecrets(nil, slog.String(a.Key, v.Error()))
	default:
		return slog.String(a.Key, redact.Mark)
	}
}

// shown returns a text without its secrets; of an address alone, without its query.
func shown(s string) string {
	if strings.HasPrefix(s, "http://") || strings.HasPrefix(s, "https://") {
		s, _, _ = strings.Cut(s, "?")
	}
	return redact.WithoutSecrets(s)
}
