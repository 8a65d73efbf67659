package audit

import (
	"context"
	"strings"
	"testing"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/tabletest"
)

func TestARowIsMadeOfTheRequestAndOfWhatWasNoted(t *testing.T) {
	known := Row{Actor: "ada@example.com", UserID: "usr_1", Target: "team_9", Status: 200}
	for name, c := range map[string]struct {
		note    func(context.Context)
		request Request
		org     string
		want    Row
	}{
		"nothing was noted": {
			nil,
			Request{Row: known, Org: "org_1", Answered: []byte(`{"id":"team_1"}`)},
			"org_1",
			Row{
				Actor: "ada@example.com", UserID: "usr_1", Target: "team_9", Status: 200,
				Changes: Changes{nil, map[string]any{"id": "team_1"}},
			},
		},
		"the answer names the thing": {
			nil,
			Request{Row: Row{Actor: "ada@example.com"}, Answered: []byte(`{"id":"team_1"}`)},
			"",
			Row{Actor: "ada@example.com", Target: "team_1", Changes: Changes{nil, map[string]any{"id": "team_1"}}},
		},
		"the answer only names what is gone": {
			nil, Request{Answered: []byte(`{"id":"team_1"}`), Gone: true}, "", Row{Actor: Anonymous, Target: "team_1"},
		},
		"the answer is a list": {nil, Request{Answered: []byte(`[{"id":"team_1"}]`)}, "", Row{Actor: Anonymous}},
		"what is after it was noted": {
			func(ctx context.Context) { NoteChange(ctx, Change{After: map[string]string{"id": "team_2"}}) },
			Request{Answered: []byte(`{"id":"team_1"}`)},
			"",
			Row{Actor: Anonymous, Target: "team_2", Changes: Changes{nil, map[string]any{"id": "team_2"}}},
		},
		"notes add to each other": {
			func(ctx context.Context) {
				NoteChange(ctx, Change{Target: "first", Before: "was"})
				NoteChange(ctx, Change{After: "is"})
				NoteChange(ctx, Change{Target: "second"})
			}, Request{}, "", Row{Actor: Anonymous, Target: "second", Changes: Changes{"was", "is"}},
		},
		"what was noted did not come about": {
			func(ctx context.Context) { NoteChange(ctx, Change{Target: "x", Before: "was", After: "is"}) },
			Request{Unchanged: true},
			"",
			Row{Actor: Anonymous, Target: "x"},
		},
		"what cannot be written": {
			func(ctx context.Context) {
				NoteChange(ctx, Change{Before: func() {}})
			}, Request{}, "", Row{Actor: Anonymous, Changes: Changes{unshown, nil}},
		},
		"somebody else is behind it": {
			func(ctx context.Context) {
				NoteActor(ctx, "", "usr_2", "")
				NoteActor(ctx, "org_2", "", "bob@example.com")
			},
			Request{Row: known, Org: "org_1"},
			"org_2",
			Row{Actor: "bob@example.com", UserID: "usr_2", Target: "team_9", Status: 200},
		},
		"an address that looks like a token": {
			nil,
			Request{Row: Row{Actor: "lamps_department@example.com"}},
			"",
			Row{Actor: "lamps_department@example.com"},
		},
		"lines and secrets in what a client chose": {
			nil,
			Request{Row: Row{
				Target: "a\nb\x00c", Path: "/" + strings.Repeat("x", 5000),
				RequestID: "lampr_01k0.1.abcdefgh",
			}},
			"",
			Row{
				Actor: Anonymous, Target: "a b c", Path: "/" + strings.Repeat("x", maxLine-1) + "…",
				RequestID: Redacted,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, n := beginNotes(t.Context())
			if c.note != nil {
				c.note(ctx)
			}
			org, got := n.composeRow(c.request)
			if org != c.org || got.String() != c.want.String() {
				t.Errorf("%q %s\nnot %q %s", org, got.String(), c.org, c.want.String())
			}
		})
	}
}

// Actions of the service itself are recorded unchanged, for all Go types, and redacted too.
func TestWhatTheServiceDoesByItself(t *testing.T) {
	store := table.Fenced(tabletest.New(t))
	type thing struct {
		Size   int
		Secret string
		Cost   float64
	}
	l := logOf(store, clock.System{})
	got, err := l.Append(t.Context(), org,
		Row{Action: "erase", Changes: Changes{Before: thing{3, "hush", 1.5}, After: []int{1}}})
	if err != nil || got.Actor != System || got.Category != Platform ||
		!strings.Contains(got.String(),
			`"changes":{"after":[1],"before":{"Cost":1.5,"Secret":"[redacted]","Size":3}}`) {
		t.Errorf("%s %v", got.String(), err)
	}
	mustLink(t, l)
	mustHold(t, store, 1)
}
