package table_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/fault"
)

// note is a record. One function returns its key.
type note struct {
	Text    string `json:"text"`
	Version int64  `json:"version"`
}

func noteKey(org string) table.Key { return table.Key{PK: table.OrgPK(org) + "NOTE", SK: "note_1"} }

// A write that may race has a condition on the state that it was decided on. It fails if that state has changed. A key
// outside the organization of the context is refused before it leaves the process.
func Example() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	engine, err := table.Open(filepath.Join(dir, "store.db"), table.Options{Clock: clock.System{}, NoSync: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer engine.Close()
	store, ctx := table.Fenced(engine), table.WithOrg(context.Background(), "org_1")

	item, _ := table.NewItem(noteKey("org_1"), note{"buy lamps", 1})
	_, err = store.Write(ctx, table.Put(item, table.Absent()))
	fmt.Println("created:", err)

	change := table.Update(noteKey("org_1"), []table.Change{table.Set("text", "sell lamps"), table.Add("version", 1)},
		table.Equal("version", 1))
	_, err = store.Write(ctx, change)
	fmt.Println("changed:", err)
	_, err = store.Write(ctx, change) // by a writer that had read version 1
	fmt.Println("too late:", fault.Is(err, fault.Conflict))

	got, err := table.Read[note](ctx, store, noteKey("org_1"))
	fmt.Println(got.Text, got.Version, err)
	_, err = table.Read[note](ctx, store, noteKey("org_2"))
	fmt.Println("another organization's:", err != nil)
	// Output:
	// created: <nil>
	// changed: <nil>
	// too late: true
	// sell lamps 2 <nil>
	// another organization's: true
}
