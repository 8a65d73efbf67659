// Package identitytest puts a platform together for the tests of whatever deals with people: a fenced embedded store, a
// clock that is moved by hand, tokens and seals with fresh keys.
package identitytest

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/engine/table/tabletest"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
)

// Start is the time at which the clock of New stands: half a minute into one, far from every border.
var Start = time.Date(2026, time.March, 10, 9, 30, 30, 0, time.UTC)

// New makes the platform, and the clock that it goes by.
func New(tb testing.TB) (*platform.Platform, *clock.Manual) {
	tb.Helper()
	c := clock.NewManual(Start)
	dir := tb.TempDir()
	keys, err := token.OpenKeyFile(filepath.Join(dir, "signing.pem"), c)
	if err != nil {
		tb.Fatal(err)
	}
	kek, err := seal.OpenKeyFile(filepath.Join(dir, "seal.key"))
	if err != nil {
		tb.Fatal(err)
	}
	const base = "https://lamplighter.test"
	return &platform.Platform{
		Table: table.Fenced(tabletest.NewAt(tb, c)), Clock: c,
		Sealer: seal.NewEnvelope(kek), Tokens: token.NewJWTs(keys, base, c), Log: slog.New(slog.DiscardHandler),
		Settings: platform.Settings{Version: "test", BaseURL: base, PrivateAddresses: true, Pepper: []byte("pepper of the tests")},
	}, c
}
