package archivetest

import (
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/foundation/fault"
)

// RunVault tests that a vault keeps the contract.
func RunVault(t *testing.T, v archive.Vault) {
	t.Helper()
	t.Run("an object stays as it was added first", func(t *testing.T) { testAddedOnce(t, v) })
	t.Run("a folder lists its objects in order, and no others", func(t *testing.T) { testListed(t, v) })
	t.Run("no name leads elsewhere", func(t *testing.T) {
		for _, name := range []string{"", "../b", "a//b", "/a", ".hidden"} {
			_, readErr := v.Read(t.Context(), name)
			_, listErr := v.Names(t.Context(), name)
			if v.Add(t.Context(), name, nil) == nil || readErr == nil || listErr == nil {
				t.Errorf("%q is a name", name)
			}
		}
	})
}

// testAddedOnce adds an object twice.
func testAddedOnce(t *testing.T, v archive.Vault) {
	t.Helper()
	ctx := t.Context()
	if err := v.Add(ctx, "nights/a.jws", []byte("first")); err != nil {
		t.Fatal(err)
	}
	if err := v.Add(ctx, "nights/a.jws", []byte("second")); !fault.Is(err, fault.Conflict) {
		t.Errorf("the second time: %v", err)
	}
	if got, err := v.Read(ctx, "nights/a.jws"); err != nil || string(got) != "first" {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := v.Read(ctx, "nights/b.jws"); !fault.Is(err, fault.NotFound) {
		t.Errorf("an object that was never added: %q, %v", got, err)
	}
}

// testListed lists folders.
func testListed(t *testing.T, v archive.Vault) {
	t.Helper()
	ctx := t.Context()
	var want []string
	for n := range 3 {
		want = append(want, fmt.Sprintf("many/%d.jws", n))
	}
	for _, name := range append(slices.Clone(want), "manyfold/0.jws") {
		if err := v.Add(ctx, name, []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := v.Names(ctx, "many"); err != nil || !slices.Equal(got, want) {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := v.Names(ctx, "none"); err != nil || len(got) > 0 {
		t.Errorf("a folder that is missing: %q, %v", got, err)
	}
}
