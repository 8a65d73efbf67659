package local

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/seal"
	"lamplighter.dev/shared/testkit/apitest"
)

// NewNote is the body of writeNote. The group of writeNote forgot to declare the partition that it writes.
type NewNote struct {
	Text string `json:"text"`
}

type noteBody struct{ Body NewNote }

// notes returns a group that writes a partition of its own.
func notes(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("")
	rest.Handle(g,
		rest.Op{ID: "writeNote", Method: http.MethodPost, Path: "/notes", SignedIn: true, Summary: "Write a note"},
		func(ctx context.Context, in *noteBody) (map[string]string, error) {
			k := table.Key{PK: table.OrgPK(identity.CallerFrom(ctx).Org) + "NOTE", SK: "1"}
			it, err := table.NewItem(k, in.Body)
			if err != nil {
				return nil, err
			}
			_, err = p.Table.Write(ctx, table.Put(it))
			return map[string]string{"id": "1"}, err
		})
	return g
}

// A write to an undeclared partition is refused before a request leaves the process, both in the process that all
// functions share and in the function's own. A declared write is not refused.
func TestServing_RefusesAPartitionThatIsNotDeclared(t *testing.T) {
	forgetful := platform.Declaration{Name: "notes", Access: rest.Access}
	declared := platform.Declaration{
		Name:   "notes",
		Access: rest.Access.With(table.Access{Writes: []table.Partition{"ORG#*#NOTE"}}),
	}
	for name, c := range map[string]struct {
		d     platform.Declaration
		alone bool
		want  int
	}{
		"not declared, in the process of all": {forgetful, false, http.StatusInternalServerError},
		"not declared, as a Lambda":           {forgetful, true, http.StatusInternalServerError},
		"declared, in the process of all":     {declared, false, http.StatusOK},
		"declared, as a Lambda":               {declared, true, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := apitest.NewPlatform(t)
			var log bytes.Buffer
			p.Log = slog.New(slog.NewTextHandler(&log, nil))
			store := p.Table
			var answer rest.Function
			if c.alone {
				p.Own(c.d)
				answer = rest.Lambda(p, notes(p))
			} else {
				p.Share()
				answer = serving(Options{Observer: unobserved{}, Clock: p.Clock}, p,
					append(functions.All(),
						functions.Function{Declaration: c.d, Groups: []functions.Group{notes}}))["notes"]
			}
			got, err := answer(t.Context(), request())
			if err != nil || got.StatusCode != c.want {
				t.Fatalf("%d %s, %v", got.StatusCode, got.Body, err)
			}
			_, err = store.Get(table.Within(t.Context(), ""), table.Key{PK: "ORG#org_a#NOTE", SK: "1"})
			if there := err == nil; there != (c.want == http.StatusOK) || !there && !fault.Is(err, fault.NotFound) {
				t.Errorf("written: %t, %v", there, err)
			}
			said := strings.Contains(log.String(),
				`the function notes does not declare that it may write the partition`)
			if said == (c.want == http.StatusOK) {
				t.Errorf("the log: %s", log.String())
			}
		})
	}
}

// request returns POST /notes by a user of org_a, as API Gateway sends it.
func request() events.APIGatewayProxyRequest {
	return events.APIGatewayProxyRequest{
		HTTPMethod: http.MethodPost, Path: "/notes", Body: `{"text":"x"}`,
		Headers: map[string]string{"Content-Type": "application/json"},
		RequestContext: events.APIGatewayProxyRequestContext{
			RequestID:  "request-1",
			Authorizer: identity.EncodeCaller(identity.Caller{Org: "org_a", User: "usr_a", Email: "a@example.com"}),
		},
	}
}

// Undeclared machines, functions and secrets are refused like undeclared partitions.
func TestShare_RefusesWhatIsNotDeclared(t *testing.T) {
	s, err := Open(Options{Root: "../../..", Dir: t.TempDir(), NoSync: true, BaseURL: "http://127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	d := platform.Declaration{Name: "notes"}
	for field, err := range map[string]error{
		"Starts": s.Platform.Workflow.Start(d.As(t.Context()), "action", "act_1", struct{}{}),
		"Stops":  s.Platform.Workflow.Stop(d.As(t.Context()), "action", "act_1", "x"),
		"Calls":  s.Platform.Workers.Invoke(d.As(t.Context()), "connector", struct{}{}, nil),
		"Seals":  second(s.Platform.Sealer.Seal(d.As(t.Context()), place, []byte("x"))),
		"Opens":  second(s.Platform.Sealer.Open(d.As(t.Context()), place, []byte("x"))),
	} {
		if err == nil || !strings.Contains(err.Error(), "does not declare that it "+field) {
			t.Errorf("%s: %v", field, err)
		}
	}
	d.Seals, d.Opens = []string{place.Kind}, []string{place.Kind}
	sealed, err := s.Platform.Sealer.Seal(d.As(t.Context()), place, []byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := s.Platform.Sealer.Open(d.As(t.Context()), place, sealed); err != nil || string(plain) != "x" {
		t.Errorf("%q, %v", plain, err)
	}
}

var place = seal.Place{Org: "org_a", Kind: "note", ID: "1"}

func second[T any](_ T, err error) error { return err }
