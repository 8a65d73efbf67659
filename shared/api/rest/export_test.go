package rest_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// line is a row of a sample export.
type line struct {
	N    int
	Text string
}

// Line returns the row as JSON.
func (l line) Line() []byte {
	b, err := json.Marshal(l)
	if err != nil {
		panic(err)
	}
	return append(b, '\n')
}

// Cells returns the row as CSV.
func (l line) Cells() []string { return []string{strconv.Itoa(l.N), l.Text} }

// ledger is an exported list; each request adds another row.
type ledger struct {
	mu    sync.Mutex
	lines []line
	grows bool
}

type exported struct {
	rest.Export
	Kind []string `query:"kind"`
}

func (l *ledger) mount(bounds rest.Bounds) http.Handler {
	g := rest.NewGroup("Resources")
	rest.Handle(g, rest.Op{
		ID: "export", Method: http.MethodGet, Path: "/lines/export", Public: true,
		Produces: rest.NDJSONType + ", " + rest.CSVType,
	}, func(ctx context.Context, in *exported) (rest.Raw, error) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.grows {
			l.lines = append(l.lines, line{len(l.lines), "later"})
		}
		at, _ := strconv.Atoi(in.Cursor)
		f := in.Begin(rest.Exported{Name: "lines", Format: rest.NDJSON, Columns: []string{"n", "text"}, Bounds: bounds})
		for ; at < len(l.lines); at++ {
			if !f.Add(l.lines[at]) {
				return f.Answer(ctx, strconv.Itoa(at))
			}
		}
		return f.Answer(ctx, "")
	})
	h, _ := rest.Mount(&platform.Platform{}, g)
	return h
}

// followExport collects the answers of an export.
func followExport(t *testing.T, h http.Handler, target string) []string {
	t.Helper()
	var out []string
	for target != "" && len(out) < 1000 {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, target, nil))
		if w.Code != http.StatusOK {
			t.Fatalf("%s: %d %s", target, w.Code, w.Body)
		}
		out = append(out, w.Body.String())
		link := w.Header().Get("Link")
		if link != "" && !strings.HasSuffix(link, `>; rel="next"`) {
			t.Fatalf("a link: %s", link)
		}
		target = strings.TrimPrefix(strings.TrimSuffix(link, `>; rel="next"`), "<")
	}
	return out
}

func TestExport_NothingIsLostOrTwice(t *testing.T) {
	for name, bounds := range map[string]rest.Bounds{
		"by rows": {Rows: 7}, "one row a piece": {Rows: 1}, "by bytes": {Bytes: 300},
		"rows larger than a piece": {Bytes: 1}, "in one piece": {},
	} {
		for _, format := range []string{"ndjson", "csv"} {
			l := &ledger{grows: true}
			for n := range 50 {
				l.lines = append(l.lines, line{n, strings.Repeat("=", n)})
			}
			pieces := followExport(t, l.mount(bounds), "/lines/export?kind=a,b&kind=c&format="+format)
			got := 0
			for _, piece := range pieces {
				for _, row := range readRows(t, format, piece) {
					if row.N != got || got < 50 && strings.TrimPrefix(row.Text, "'") != strings.Repeat("=", got) {
						t.Fatalf("%s, %s: row %d is %+v", name, format, got, row)
					}
					got++
				}
			}
			if got < 51 || name != "in one piece" && len(pieces) < 3 || name == "in one piece" && len(pieces) > 1 {
				t.Errorf("%s, %s: %d rows in %d pieces", name, format, got, len(pieces))
			}
		}
	}
}

// readRows returns the rows of an answer.
func readRows(t *testing.T, format, piece string) []line {
	t.Helper()
	var out []line
	if format == "csv" {
		rows, err := csv.NewReader(strings.NewReader(piece)).ReadAll()
		if err != nil || fmt.Sprint(rows[0]) != "[n text]" {
			t.Fatalf("%v: %v", rows, err)
		}
		for _, cells := range rows[1:] {
			n, _ := strconv.Atoi(cells[0])
			out = append(out, line{n, cells[1]})
		}
		return out
	}
	for text := range strings.Lines(piece) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func TestExport_TheNextPieceIsOfTheSameQuestion(t *testing.T) {
	l := &ledger{lines: make([]line, 3)}
	h := l.mount(rest.Bounds{Rows: 1})
	r := httptest.NewRequest(http.MethodGet, "/lines/export?kind=a%20b&kind=c", nil)
	r.Header.Set("Accept", "text/csv")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	if got := w.Header().Get("Link"); got != `</lines/export?cursor=1&format=csv&kind=a+b%2Cc>; rel="next"` ||
		w.Header().Get("Content-Type") != rest.CSVType {
		t.Errorf("%s %s", got, w.Header())
	}
}

// Lambda limits an answer to 6 MiB of JSON, where special characters of JSON and HTML take up to six bytes.
func TestExport_FitsIntoTheAnswerOfALambda(t *testing.T) {
	for name, text := range map[string]string{
		"letters": "a", "quotation marks": `"`, "HTML": "<", "backslashes": `\`, "line breaks": "\n", "wide": "😀",
		"what JSON writes as six bytes": "\u2028",
	} {
		l := &ledger{lines: make([]line, 400)}
		for n := range l.lines {
			l.lines[n] = line{n, strings.Repeat(text, 40_000)}
		}
		for _, format := range []string{"ndjson", "csv"} {
			var ev events.APIGatewayProxyRequest
			ev.HTTPMethod, ev.Path = http.MethodGet, "/lines/export"
			ev.MultiValueQueryStringParameters = map[string][]string{"format": {format}}
			out, err := rest.AdaptHandler(l.mount(rest.Bounds{}))(t.Context(), ev)
			if err != nil || out.StatusCode != http.StatusOK || len(out.MultiValueHeaders["Link"]) != 1 {
				t.Fatalf("%s: %d %v %v", name, out.StatusCode, out.MultiValueHeaders, err)
			}
			sent, err := json.Marshal(out)
			if err != nil || len(sent) > 6<<20 || len(sent) < 5<<20 {
				t.Errorf("%s, %s: %d bytes, %v", name, format, len(sent), err)
			}
			if !bytes.HasSuffix([]byte(out.Body), []byte("\n")) {
				t.Errorf("%s, %s: it ends within a row", name, format)
			}
		}
	}
}
