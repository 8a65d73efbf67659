package apitest

import (
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/tabletest"
)

// Start is the time of a fixture's clock: half a minute past a full minute, far from every boundary.
var Start = time.Date(2026, time.March, 10, 9, 30, 30, 0, time.UTC)

// NewPlatform returns a platform of a fenced embedded store, a clock that is moved by hand, and tokens and seals with
// fresh keys; and that clock. It is for tests that call no operation: others begin with New.
func NewPlatform(tb testing.TB) (*platform.Platform, *clock.Manual) {
	tb.Helper()
	c := clock.NewManual(Start)
	return PlatformAt(tb, c), c
}

// PlatformAt is NewPlatform with a clock of the test's own.
func PlatformAt(tb testing.TB, c clock.Clock) *platform.Platform {
	tb.Helper()
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
		Workers: lambdacall.Local{}, AnchorKeys: token.NewDocuments(keys),
		Vault: archive.NewFolderVault(filepath.Join(dir, "vault")),
		Settings: platform.Settings{
			Version: "test", BaseURL: base, PrivateAddresses: true,
			Pepper: []byte("pepper of the tests"),
		},
	}
}
