package audit

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// exportFiles returns a chain as NDJSON and as CSV.
func exportFiles(t interface {
	Helper()
	Fatal(...any)
}, rows []Row,
) (ndjson, sheet string) {
	t.Helper()
	var lines, cells bytes.Buffer
	w := csv.NewWriter(&cells)
	w.Write(Columns)
	h := Head{}
	for i := range rows {
		rows[i].At = noon
		content := rows[i].content()
		h = sealAfter(content, h)
		s, err := DecodeStored(storedItem("p", content))
		if err != nil {
			t.Fatal(err)
		}
		lines.Write(s.Line())
		w.Write(plainCells(s.Cells()))
	}
	w.Flush()
	return lines.String(), cells.String()
}

// plainCells adds apostrophes like an export.
func plainCells(cells []string) []string {
	for i, cell := range cells {
		if cell != "" && strings.ContainsRune("=+-@'\t\r\n", rune(cell[0])) {
			cells[i] = "'" + cell
		}
	}
	return cells
}

// walkFile verifies a file, and returns its end.
func walkFile(text string) (Walk, *Break, error) {
	var w Walk
	r, err := NewReader(strings.NewReader(text))
	if err != nil {
		return w, nil, err
	}
	for {
		s, err := r.Next()
		if errors.Is(err, io.EOF) {
			return w, nil, nil
		}
		if err != nil {
			return w, nil, err
		}
		if b := w.Step(s); b != nil {
			return w, b, nil
		}
	}
}

func TestBothFormsOfAnExportHoldTheSame(t *testing.T) {
	var rows []Row
	for _, target := range []string{
		"", "=1+1", "+1", "-1", "@x", "'", "''=", "'=1", "a,b", `"`, "ü\u2028",
		"[redacted]", " x ", "null", "1",
	} {
		r := newRow("update")
		r.Target, r.Changes = target, Changes{target, map[string]any{target + "x": []any{nil, true, target}}}
		rows = append(rows, r)
	}
	sent := "request-0001"
	rows[1].ClientRequestID = &sent
	ndjson, sheet := exportFiles(t, rows)
	if n := strings.Count(ndjson, `"clientRequestID":"request-0001"`); n != 1 ||
		strings.Count(ndjson, "clientRequestID") != 1 {
		t.Errorf("the id that the client sent with the second row:\n%s", ndjson)
	}
	for form, text := range map[string]string{"NDJSON": ndjson, "CSV": sheet} {
		if w, b, err := walkFile(text); err != nil || b != nil || w.Rows != int64(len(rows)) {
			t.Errorf("%s: %+v %+v %v", form, w, b, err)
		}
	}
	again, _ := NewReader(strings.NewReader(sheet))
	first, _ := NewReader(strings.NewReader(ndjson))
	for range rows {
		a, errA := first.Next()
		b, errB := again.Next()
		if errA != nil || errB != nil || string(a.Line()) != string(b.Line()) {
			t.Errorf("%s and %s, %v %v", a.Line(), b.Line(), errA, errB)
		}
	}
}

// Exports from before rows had a clientRequestID lack its column.
func TestReader_ReadsSheetsOfEarlierVersions(t *testing.T) {
	_, sheet := exportFiles(t, []Row{newRow("one"), newRow("two")})
	all, err := csv.NewReader(strings.NewReader(sheet)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(Columns, "clientRequestID")
	var earlier bytes.Buffer
	w := csv.NewWriter(&earlier)
	for _, cells := range all {
		w.Write(slices.Delete(slices.Clone(cells), at, at+1))
	}
	w.Flush()
	if strings.Contains(earlier.String(), "clientRequestID") {
		t.Fatal("the sheet still has the column")
	}
	if w, b, err := walkFile(earlier.String()); err != nil || b != nil || w.Rows != 2 {
		t.Errorf("%+v %+v %v", w, b, err)
	}
}

func TestWhatAnExportCannotHold(t *testing.T) {
	ndjson, sheet := exportFiles(t, []Row{newRow("one"), newRow("two")})
	for name, text := range map[string]string{
		"a line without an end":          strings.Repeat(`{"a":`, 400_000),
		"too many levels":                `{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + "}\n",
		"two texts on a line":            strings.Replace(ndjson, "\n", " ", 1),
		"a list":                         ndjson + "[1]\n",
		"a line that stops":              ndjson + "{\n",
		"a line that stops in a list":    ndjson + `{"a":[` + "\n",
		"a line that stops in a text":    ndjson + `{"a":"` + "\n",
		"a file that is cut off":         ndjson[:len(ndjson)-3],
		"a sheet that is cut off":        sheet[:len(sheet)-70],
		"changes that stop":              strings.Replace(sheet, `{""after"":null,""before"":null}`, `{`, 1),
		"bytes that are no text":         "{\"a\":\"\xff\"}\n",
		"a number that is none":          strings.Replace(sheet, ",200,", `,"200,""x"":1",`, 1),
		"changes that are none":          strings.Replace(sheet, `""after"":null`, `""after"":`, 1),
		"another head line":              strings.Replace(sheet, "actor,", "actors,", 1),
		"a quote that does not end":      sheet + `"`,
		"something that is neither form": "<xml/>",
	} {
		if w, b, err := walkFile(text); err == nil && b == nil {
			t.Errorf("%s: %+v", name, w)
		}
	}
}

// FuzzReader requires that any file is read to its end, refused, or found to be broken, and that every row in a
// verified file is one of the genuine chain.
func FuzzReader(f *testing.F) {
	rows := []Row{newRow("one"), newRow("two"), newRow("three")}
	for i := range rows {
		rows[i].Target, rows[i].Changes = "=x", Changes{Before: map[string]any{"name": "a,\"b\""}}
	}
	ndjson, sheet := exportFiles(f, rows)
	genuine := map[string]string{}
	r, _ := NewReader(strings.NewReader(ndjson))
	for s, err := r.Next(); err == nil; s, err = r.Next() {
		genuine[s.stringMember("hash")] = string(s.Line())
	}
	f.Add(ndjson)
	f.Add(sheet)
	f.Add("\ufeff" + sheet)
	f.Add(strings.ReplaceAll(ndjson, ",", " ,\t"))
	f.Fuzz(func(t *testing.T, text string) {
		r, err := NewReader(strings.NewReader(text))
		if err != nil {
			return
		}
		var w Walk
		for s, err := r.Next(); err == nil; s, err = r.Next() {
			if w.Step(s) != nil {
				return
			}
			if was, ok := genuine[s.stringMember("hash")]; ok && was != string(s.Line()) {
				t.Fatalf("%s passes for %s", s.Line(), was)
			}
		}
	})
}

// A file can start anywhere, so the previousHash of its first row is accepted and printed.
func TestWhatTheFirstRowFollowsIsAHash(t *testing.T) {
	for name, previous := range map[string]string{
		"nothing": "", "too short": "ab", "a line of its own": strings.Repeat("a", 40) + "\nlast hash      00",
		"what a terminal obeys": "\x1b[2J" + strings.Repeat("a", 60), "capitals": strings.Repeat("A", 64),
	} {
		s := Sealed{"seq": json.Number("7"), "at": "2026-03-02T12:00:00Z", "previousHash": previous}
		s["hash"] = hashContent(s)
		if b := (&Walk{}).Step(s); b == nil {
			t.Errorf("%s: %q was taken for a hash", name, previous)
		}
	}
	s := Sealed{"seq": json.Number("7"), "at": "2026-03-02T12:00:00Z", "previousHash": strings.Repeat("a", 64)}
	s["hash"] = hashContent(s)
	if b := (&Walk{}).Step(s); b != nil {
		t.Errorf("%+v", b)
	}
}
