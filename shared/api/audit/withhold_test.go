package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"testing"
)

// oldSignIns are rows from the time when a row of a log-in contained all organizations of the user, among other rows.
func oldSignIns(t *testing.T) []Sealed {
	t.Helper()
	both := []any{map[string]any{"id": "org_a", "name": "Ours"}, map[string]any{"id": "org_b", "name": "Theirs"}}
	var out []Sealed
	h := Head{}
	for _, r := range []Row{
		{Action: "createTeam", Target: "team_1"},
		{
			Action: "logIn", Actor: "ada@example.com",
			Changes: Changes{After: map[string]any{"expiresIn": json.Number("900"), "tenants": both}},
		},
		{Action: "refresh", Changes: Changes{After: map[string]any{"tenants": both}}},
		{Action: "updateTeam", Changes: Changes{After: map[string]any{"tenants": "of a house"}}},
	} {
		r.At = noon
		content := r.content()
		h = sealAfter(content, h)
		s, err := DecodeStored(storedItem("p", content))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, s)
	}
	return out
}

// exportRows returns rows in both formats of an export.
func exportRows(t *testing.T, rows []Sealed) map[string]string {
	t.Helper()
	var lines, cells bytes.Buffer
	w := csv.NewWriter(&cells)
	_ = w.Write(Columns)
	for _, s := range rows {
		lines.Write(s.Shown().Line())
		_ = w.Write(s.Shown().Cells())
	}
	w.Flush()
	return map[string]string{"NDJSON": lines.String(), "CSV": cells.String()}
}

// proveExport verifies an export.
func proveExport(t *testing.T, w *Walk, text string) *Break {
	t.Helper()
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		if b := w.Step(s); b != nil {
			return b
		}
	}
}

func TestSealed_Shown_OldSignInsTellOfNoOtherOrganization(t *testing.T) {
	rows := oldSignIns(t)
	for form, text := range exportRows(t, rows) {
		if strings.Contains(text, "org_b") || strings.Contains(text, "Theirs") {
			t.Errorf("%s tells of another organization:\n%s", form, text)
		}
		if !strings.Contains(text, "of a house") || !strings.Contains(text, "900") {
			t.Errorf("%s lacks what is nobody else's business:\n%s", form, text)
		}
		w := &Walk{Whole: true, Exported: true}
		if b := proveExport(t, w, text); b != nil || w.Rows != 4 || w.Withheld != 2 ||
			w.Hash != rows[3].stringMember("hash") {
			t.Errorf("%s is not proved: %+v %+v", form, b, w)
		}
	}
}

func TestSealed_Shown_WhatIsWithheldExcusesNothingElse(t *testing.T) {
	rows := oldSignIns(t)
	ndjson := exportRows(t, rows)["NDJSON"]
	for name, text := range map[string]string{
		"another row is altered": strings.Replace(ndjson, "team_1", "team_2", 1),
		"the hash of a row is altered": strings.Replace(ndjson, rows[1].stringMember("hash"),
			strings.Repeat("a", 64), 1),
		"the hash of a row is none": strings.Replace(ndjson, `"hash":"`+rows[1].stringMember("hash"),
			`"hash":"x`, 1),
		"another operation claims to be withheld": strings.Replace(ndjson, "of a house", Withheld, 1),
		"a row is missing":                        ndjson[strings.Index(ndjson, "\n")+1:],
	} {
		if b := proveExport(t, &Walk{Whole: true, Exported: true}, text); b == nil {
			t.Errorf("%s, and nothing is found out", name)
		}
	}
	if b := proveExport(t, &Walk{Whole: true}, ndjson); b == nil || b.Seq != 2 {
		t.Errorf("a row of the store that says withheld is taken for whole: %+v", b)
	}
}

func TestRow_Shown_OldSignInsTellOfNoOtherOrganization(t *testing.T) {
	for _, s := range oldSignIns(t) {
		var r Row
		if err := json.Unmarshal(s.Line(), &r); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r.Shown())
		if err != nil || strings.Contains(string(b), "Theirs") || !strings.Contains(string(b), s.stringMember("hash")) {
			t.Errorf("%s: %v", b, err)
		}
		if tells := s.tellsElsewhere(); tells != strings.Contains(string(b), Withheld) {
			t.Errorf("%s: tells %v", b, tells)
		}
	}
}
