package rest_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// lampBody has a member of each kind of rule.
type lampBody struct {
	Name     string              `json:"name,omitempty" minLength:"3" maxLength:"5"`
	Password string              `json:"password,omitempty" minLength:"12"`
	Code     string              `json:"code,omitempty" pattern:"^[0-9]{6}$" patternDescription:"six digits"`
	Colour   string              `json:"colour,omitempty" enum:"red,blue"`
	Watts    int                 `json:"watts,omitempty" minimum:"1" maximum:"100"`
	On       bool                `json:"on,omitempty"`
	Rooms    map[string][]string `json:"rooms,omitempty"`
	Bulbs    []string            `json:"bulbs,omitempty" minItems:"1" maxItems:"2"`
	Socket   lampSocket          `json:"socket,omitzero"`
	Must     string              `json:"must"`
}

type lampSocket struct {
	Kind string `json:"kind"`
}

// answerOf sends a body to an operation with a lampBody, and returns the message of the answer.
func answerOf(t *testing.T, body string) (int, string) {
	t.Helper()
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{ID: "light", Method: http.MethodPost, Path: "/light", Public: true},
		func(context.Context, *struct{ Body lampBody }) (string, error) { return "", nil })
	h, _ := rest.Mount(&platform.Platform{}, g)
	r := httptest.NewRequest(http.MethodPost, "/light", strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	var out struct{ Error struct{ Message string } }
	if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
		t.Fatalf("%d %s", w.Code, w.Body)
	}
	return w.Code, out.Error.Message
}

// Messages name the member, the rule and what was sent. They quote no text of a body, which may be a secret, but for a
// choice.
func TestMessages_NameTheMemberTheRuleAndTheValue(t *testing.T) {
	for body, want := range map[string]string{
		`{}`:                                  "must: it is missing",
		`{"must":"x","socket":{}}`:            "socket.kind: it is missing",
		`{"must":1}`:                          "must: it must be a string",
		`{"must":"x","name":"ab"}`:            "name: it must have 3 or more characters, got 2",
		`{"must":"x","name":"äöüäöü"}`:        "name: it must have 5 or fewer characters, got 6",
		`{"must":"x","password":"open"}`:      "password: it must have 12 or more characters, got 4",
		`{"must":"x","code":"12345"}`:         "code: it must be six digits",
		`{"must":"x","colour":"green"}`:       `colour: it must be one of red, blue, got "green"`,
		`{"must":"x","watts":1.5}`:            "watts: it must be a whole number",
		`{"must":"x","watts":-1}`:             "watts: it must be 1 or more, got -1",
		`{"must":"x","watts":1000000}`:        "watts: it must be 100 or less, got 1000000",
		`{"must":"x","watts":"ten"}`:          "watts: it must be a whole number",
		`{"must":"x","on":"yes"}`:             "on: it must be true or false",
		`{"must":"x","rooms":{"hall":"one"}}`: `rooms.hall: it must be a list, as ["a"]`,
		`{"must":"x","rooms":[]}`:             "rooms: it must be an object",
		`{"must":"x","bulbs":[]}`:             "bulbs: it must have 1 or more items, got 0",
		`{"must":"x","bulbs":["","",""]}`:     "bulbs: it must have 2 or fewer items, got 3",
	} {
		if code, got := answerOf(t, body); code != http.StatusBadRequest || got != want {
			t.Errorf("%s: %d %s, want %s", body, code, got, want)
		}
	}
}
