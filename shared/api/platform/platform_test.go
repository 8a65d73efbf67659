package platform

import (
	"log/slog"
	"net"
	"reflect"
	"sync"
	"testing"

	"lamplighter.dev/shared/api/identity/token"
	"lamplighter.dev/shared/engine/archive"
	"lamplighter.dev/shared/engine/lambdacall"
	"lamplighter.dev/shared/engine/workflow"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/tabletest"
)

// counter is an example of a cache of a package.
type counter struct{ made int }

func TestShared_IsMadeOncePerPlatform(t *testing.T) {
	made := 0
	create := func(*Platform) *counter { made++; return &counter{made} }
	p, other := &Platform{}, &Platform{}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if got := Shared(p, create); got.made != 1 {
				t.Errorf("got the one that was made as number %d", got.made)
			}
		})
	}
	all.Wait()
	if Shared(other, create) == Shared(p, create) || Shared(p.Clone(), create) == Shared(p, create) {
		t.Error("two platforms share one value")
	}
	if made != 3 {
		t.Errorf("made %d times for three platforms", made)
	}
	if got := Shared(p, func(*Platform) int { return 7 }); got != 7 {
		t.Errorf("a value of another type is %d", got)
	}
}

func TestClone_HasEveryPart(t *testing.T) {
	p := &Platform{
		Table: tabletest.New(t), Clock: clock.System{}, Workflow: struct{ workflow.Engine }{},
		Workers: struct{ lambdacall.Invoker }{}, Outbox: struct{ archive.Outbox }{},
		Sealer: struct{ seal.Sealer }{}, Tokens: struct{ token.Tokens }{}, Resolver: net.DefaultResolver,
		Archive: struct{ archive.Store }{}, Inbox: struct{ archive.Inbox }{},
		Lines: struct{ archive.Files }{}, Vault: struct{ archive.Vault }{}, AnchorKeys: struct{ token.Documents }{},
		Log:     slog.Default(),
		Pending: struct{ Pending }{}, Settings: Settings{Version: "1"},
	}
	old, got := reflect.ValueOf(p).Elem(), reflect.ValueOf(p.Clone()).Elem()
	for i := range old.NumField() {
		switch f := old.Type().Field(i); {
		case !f.IsExported():
		case old.Field(i).IsZero():
			t.Errorf("%s is not tried", f.Name)
		case !reflect.DeepEqual(got.Field(i).Interface(), old.Field(i).Interface()):
			t.Errorf("%s is not copied", f.Name)
		}
	}
}
