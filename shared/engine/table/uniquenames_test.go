package table_test

import (
	"context"
	"path/filepath"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

var lampNames = table.UniqueNames{PK: "ORG#org_1#LAMPNAME", Noun: "lamp"}

func openNames(t *testing.T) (context.Context, table.Store) {
	t.Helper()
	s, err := table.Open(filepath.Join(t.TempDir(), "store.db"), table.Options{Clock: clock.System{}, NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return table.WithOrg(t.Context(), "org_1"), s
}

// renameRecord gives the record id another name, like the stores of records.
func renameRecord(ctx context.Context, s table.Store, previous, next, id string) error {
	ws, err := lampNames.Rename(previous, next, id)
	if err != nil || len(ws) == 0 {
		return err
	}
	return s.Transact(ctx, ws...)
}

func TestUniqueNames_Rename(t *testing.T) {
	type change struct {
		previous, next, id string
		refused            bool
	}
	for name, changes := range map[string][]change{
		"two records cannot have the same name": {
			{next: "Desk", id: "1"}, {next: "Desk", id: "2", refused: true},
		},
		"names that differ only in case are the same": {
			{next: "Straße", id: "1"}, {next: "STRAßE", id: "2", refused: true},
		},
		"a record keeps its name when only the case changes": {
			{next: "Desk", id: "1"}, {previous: "Desk", next: "DESK", id: "1"}, {next: "desk", id: "2", refused: true},
		},
		"a renamed record releases its previous name": {
			{next: "Desk", id: "1"},
			{previous: "Desk", next: "Hall", id: "1"},
			{next: "desk", id: "2"},
			{next: "hall", id: "3", refused: true},
		},
		// strings.EqualFold calls these two equal, although their lower case differs
		"the final form of sigma is another name, and is claimed": {
			{next: "οσ", id: "1"},
			{previous: "οσ", next: "ος", id: "1"},
			{next: "οσ", id: "2"},
			{next: "ος", id: "3", refused: true},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, s := openNames(t)
			for _, c := range changes {
				err := renameRecord(ctx, s, c.previous, c.next, c.id)
				if got := lampNames.Refusal(err, c.next) != nil; got != c.refused || err != nil && !c.refused {
					t.Errorf("rename %q to %q: %v, refused %t", c.previous, c.next, err, got)
				}
			}
		})
	}
}

func TestUniqueNames_Refusal(t *testing.T) {
	ctx, s := openNames(t)
	if err := renameRecord(ctx, s, "", "Desk", "1"); err != nil {
		t.Fatal(err)
	}
	err := lampNames.Refusal(renameRecord(ctx, s, "", "DESK", "2"), "DESK")
	const want = `name: another lamp is named "DESK" already, regardless of case; choose a different name`
	if !fault.Is(err, fault.Conflict) || fault.Message(err) != want {
		t.Errorf("a name that is claimed: %v", err)
	}
	other := s.Transact(ctx, table.Check(table.Key{PK: lampNames.PK, SK: "other"}, table.Exists()))
	if err = lampNames.Refusal(other, "DESK"); other == nil || err != nil {
		t.Errorf("another condition that failed: %v: %v", other, err)
	}
	if err = lampNames.Refusal(context.Canceled, "DESK"); err != nil {
		t.Errorf("another error: %v", err)
	}
}

func TestUniqueNames_Claim(t *testing.T) {
	u := table.UniqueNames{PK: "ORG#org_1#LAMP", Prefix: "NAME#", Noun: "lamp", IDAttr: "lampID"}
	w, err := u.Claim("Desk", "lamp_1")
	if err != nil {
		t.Fatal(err)
	}
	got, err := table.Decode[map[string]string](w.Item)
	if want := (table.Key{PK: u.PK, SK: "NAME#desk"}); err != nil || w.Item.Key != want || got["lampID"] != "lamp_1" {
		t.Errorf("claim %v %v: %v", w.Item.Key, got, err)
	}
	if r := u.Release("DESK"); r.Item.Key != w.Item.Key {
		t.Errorf("release deletes %v", r.Item.Key)
	}
}
