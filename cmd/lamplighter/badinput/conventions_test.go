package badinput

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/cmd/lamplighter/testenv/probe"
	"lamplighter.dev/shared/testkit/resttest"
)

// TestConventions checks the conventions of the contract for every operation of the interface description, on a
// service that has one of everything. TestFuzz checks the first convention as well for operations that change
// something, because it calls each of them until one call succeeds.
func TestConventions(t *testing.T) {
	t.Parallel()
	b := badly(t)
	t.Run("every member that is described is in every answer", b.everyMember)
	t.Run("times are dates or RFC 3339, and nonsense is refused alike", b.times)
	t.Run("an empty value of a type is refused", b.emptyValues)
	t.Run("a parameter with one value is not given twice, a list is", b.repeated)
	t.Run("no error shows more than 200 bytes of a query or a path", b.longValues)
	t.Run("no error shows more than 200 bytes of a body", b.longBodies)
	t.Run("exports are whole, piece by piece", b.exports)
}

func (b *bad) everyMember(t *testing.T) {
	some := 0
	for _, op := range b.ops {
		if op.Method != http.MethodGet {
			continue
		}
		w := b.ask(t, op.Method, b.target(op, "", ""), "")
		if err := resttest.Described(op.Operation, w); err != nil {
			t.Errorf("%s: %d %.300s: %v", op.OperationID, w.Code, w.Body, err)
		}
		if w.Code == http.StatusOK {
			some++
		}
	}
	if some < 35 {
		t.Errorf("%d operations answered: the estate has too little in it", some)
	}
}

// timed returns the query parameters whose examples are times.
func timed(op probe.Operation) []string {
	var out []string
	for _, p := range op.Parameters {
		if s := p.Value.Schema; p.Value.In == "query" && s != nil &&
			slices.Contains(s.Value.Examples, any("2026-11-22T09:30:00Z")) {
			out = append(out, p.Value.Name)
		}
	}
	return out
}

func (b *bad) times(t *testing.T) {
	nonsense := []string{
		"yesterday", "2026-13-01", "2026-02-30", "2026-11-22T25:00:00Z", "2026-11-22T09:30:00", "2026-11-22 09:30:00Z",
		"1763803800", "2026", "2026-11",
		"22/11/2026", "2026-11-22T09:30Z", "-2026-11-22", "2026-11-22Z", " ", "now", "null", "99999-01-01",
	}
	some := 0
	for _, op := range b.ops {
		for _, name := range timed(op) {
			some++
			for _, good := range []string{
				"2026-11-22", "2026-11-22T09:30:00Z", "2026-11-22T09:30:00.123456789+05:30",
				"1969-01-01", "0001-01-01", "9999-12-31",
			} {
				w := b.ask(t, op.Method, b.target(op, "", "")+"?"+name+"="+url.QueryEscape(good), "")
				if w.Code != http.StatusOK && !tooLong(op, w.Body.Bytes()) && !unmeasured(op, w.Body.Bytes()) {
					t.Errorf("%s?%s=%s: %d %s", op.OperationID, name, good, w.Code, w.Body)
				}
			}
			for _, text := range nonsense {
				w := b.ask(t, op.Method, b.target(op, "", "")+"?"+name+"="+url.QueryEscape(text), "")
				want := fmt.Sprintf(
					`%s: expected a time as RFC 3339, such as 2026-11-22T09:30:00Z, or a date, `+
						`such as 2026-11-22, got %q`, name, text)
				if w.Code != http.StatusBadRequest || message(w.Body.Bytes()) != want {
					t.Errorf("%s?%s=%s: %d %s, want %s", op.OperationID, name, text, w.Code, w.Body, want)
				}
			}
		}
		for _, pair := range [][2]string{{"from", "to"}, {"created_after", "created_before"}} {
			if slices.Contains(timed(op), pair[0]) {
				b.ordered(t, op, pair[0], pair[1])
			}
		}
	}
	if some < 6 {
		t.Errorf("%d parameters of time are fewer than there are", some)
	}
}

// tooLong reports whether a report was refused only because of the length of its window.
func tooLong(op probe.Operation, answer []byte) bool {
	m := message(answer)
	isReport := slices.Contains(op.Tags, "Reports & Analytics") || op.OperationID == "getResourceCosts"
	return isReport && strings.HasPrefix(m, "from: it is ") && strings.HasSuffix(m, "a report has at most 800")
}

// unmeasured reports whether metrics were refused because no provider has points for their window.
func unmeasured(op probe.Operation, answer []byte) bool {
	reasons := regexp.MustCompile(
		`^(from: .* (are \d+ points of \d+ s; at most \d+: .*|is less than a period of \d+ s before to, .*|` +
			`is more than \d+ days ago, which no provider keeps)|to: .* has not come yet)$`)
	return op.OperationID == "getResourceMetrics" && reasons.MatchString(message(answer))
}

// ordered checks that a window that ends before it begins is refused, and that an empty one is answered.
func (b *bad) ordered(t *testing.T, op probe.Operation, first, last string) {
	t.Helper()
	for query, want := range map[string]int{
		first + "=2026-11-23&" + last + "=2026-11-22":                  http.StatusBadRequest,
		first + "=2026-11-22T00:00:00.000001Z&" + last + "=2026-11-22": http.StatusBadRequest,
		first + "=2026-11-22&" + last + "=2026-11-22":                  http.StatusOK,
		first + "=2026-11-22T01:00:00%2b02:00&" + last + "=2026-11-22": http.StatusOK,
	} {
		w := b.ask(t, op.Method, b.target(op, "", "")+"?"+query, "")
		if w.Code != want || want == http.StatusBadRequest && !strings.HasPrefix(message(w.Body.Bytes()), first+": ") {
			t.Errorf("%s?%s: %d %s, want %d", op.OperationID, query, w.Code, w.Body, want)
		}
	}
}

// message returns the message of an error of any shape, or "" for another answer.
func message(body []byte) string {
	var e struct{ Error json.RawMessage }
	var detail struct{ Message string }
	var text string
	if json.Unmarshal(body, &e) != nil || json.Unmarshal(e.Error, &detail) != nil {
		_ = json.Unmarshal(e.Error, &text) // one of the two fits, or the body is no error
		return text
	}
	return detail.Message
}

// queries calls visit with each query parameter of each operation that can answer on this service.
func (b *bad) queries(visit func(op probe.Operation, p *openapi3.Parameter)) {
	for _, op := range b.ops {
		if strings.Contains(op.Path, "{provider}") {
			continue // no provider is configured: always 404
		}
		for _, p := range op.Parameters {
			// filter[…] is no parameter by itself
			if p.Value.In == "query" && p.Value.Style != openapi3.SerializationDeepObject {
				visit(op, p.Value)
			}
		}
	}
}

// anyText reports whether s accepts every text.
func anyText(s *openapi3.Schema) bool {
	if s.Items != nil {
		s = s.Items.Value
	}
	return s.Type.Is(openapi3.TypeString) && len(s.Enum) == 0 && !slices.Contains(s.Examples, any("2026-11-22"))
}

func (b *bad) emptyValues(t *testing.T) {
	refused := 0
	b.queries(func(op probe.Operation, p *openapi3.Parameter) {
		if !p.Required && slices.ContainsFunc(op.Parameters, func(o *openapi3.ParameterRef) bool {
			return o.Value.In == "query" && o.Value.Required
		}) {
			return // always refused, because the other one is missing
		}
		want := http.StatusBadRequest
		if anyText(p.Schema.Value) && p.Name != "sort_by" {
			want = http.StatusOK
		}
		if op.Method != http.MethodGet && want == http.StatusOK {
			return // it would be carried out
		}
		says := p.Name + ": it is empty: send "
		if p.Required {
			want = http.StatusBadRequest
			if len(p.Schema.Value.Enum) == 0 {
				says = p.Name + ": required"
			}
		}
		for _, query := range []string{p.Name + "=", p.Name} {
			w := b.ask(t, op.Method, b.target(op, "", "")+"?"+query, "")
			// other required parameters may be missing too
			if w.Code != want || want == http.StatusBadRequest && !strings.Contains(message(w.Body.Bytes()), says) {
				t.Errorf("%s?%s: %d %s, want %d", op.OperationID, query, w.Code, w.Body, want)
			}
			refused++
		}
	})
	if refused < 100 {
		t.Errorf("%d cases are fewer than the parameters call for", refused)
	}
}

func (b *bad) repeated(t *testing.T) {
	lists := 0
	b.queries(func(op probe.Operation, p *openapi3.Parameter) {
		if op.Method != http.MethodGet {
			return
		}
		s, value := p.Schema.Value, "1"
		several := s.Type.Is(openapi3.TypeArray)
		if several {
			s = s.Items.Value
		}
		if len(s.Enum) > 0 {
			value = fmt.Sprint(s.Enum[0])
		}
		if op.OperationID == "getResourceMetrics" && p.Name == "name" {
			value = "cpu_avg_14d" // one that the resource has: a metric that it has not is refused by name
		}
		again := value
		if p.Name == "dims" {
			value, again = "provider", "region" // each is named once
		}
		path := b.target(op, "", "") + "?" + p.Name + "="
		w := b.ask(t, op.Method, path+value+"&"+p.Name+"="+again, "")
		if !several {
			if w.Code != http.StatusBadRequest ||
				!strings.HasPrefix(message(w.Body.Bytes()), p.Name+": it is given 2 times") {
				t.Errorf("%s: %s twice: %d %s", op.OperationID, p.Name, w.Code, w.Body)
			}
			return
		}
		lists++
		if w.Code != http.StatusOK || w.Body.String() != b.ask(t, op.Method, path+value+","+again, "").Body.String() {
			t.Errorf("%s: %s in two parameters: %d %.300s, and behind a comma another answer", op.OperationID, p.Name,
				w.Code, w.Body)
		}
	})
	if lists < 15 {
		t.Errorf("%d lists are fewer than there are", lists)
	}
}

// numbered returns a text of n bytes. No piece of eight bytes occurs twice in it, so a test can tell how much of it
// an answer shows.
func numbered(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, "v%05dx", i)
	}
	return b.String()[:n]
}

// shown returns how many bytes of a sent text an answer contains.
func shown(answer, sent string) int {
	n := 0
	for i := 0; i+7 <= len(answer); {
		if strings.Contains(sent, answer[i:i+7]) {
			n, i = n+7, i+7
			continue
		}
		i++
	}
	return n
}

const mostShown = 200

func (b *bad) longValues(t *testing.T) {
	long := numbered(5000)
	check := func(op probe.Operation, target string) {
		w := b.ask(t, op.Method, target, "{}")
		if n := shown(w.Body.String(), long); n > mostShown {
			t.Errorf("%s: %d bytes shown of %.100s…: %.500s", op.OperationID, n, target, w.Body)
		}
	}
	for _, op := range b.ops {
		var all []string
		for _, p := range op.Parameters {
			switch p.Value.In {
			case "path":
				check(op, b.target(op, p.Value.Name, long[:1000]))
			case "query":
				check(op, b.target(op, "", "")+"?"+p.Value.Name+"="+long)
				all = append(all, p.Value.Name+"="+long[300*len(all):300*len(all)+300])
			}
		}
		if len(all) > 0 && op.Method == http.MethodGet {
			check(op, b.target(op, "", "")+"?"+strings.Join(all, "&")) // each within bounds, and all of them together
		}
	}
}

// longBodies sends oversized values in each member of each body: a text, a number, a list and a name, in one member
// and in all members at once.
func (b *bad) longBodies(t *testing.T) {
	long, digits := numbered(140_000), "1"+strings.Repeat("0123456789", 90_000)
	names := map[string]int{}
	for i := range 300 {
		names[numbered(3000)[7*i:7*i+700]] = i
	}
	many := make([]string, 2000)
	for i := range many {
		many[i] = long[70*i : 70*i+70]
	}
	list, _ := json.Marshal(many) //nolint:errchkjson // texts
	object, _ := json.Marshal(names)
	values := []string{`"` + long[:300] + `"`, digits[:9000], string(object), string(list), `"` + long + `"`, digits}
	for o, op := range b.takers() {
		for m, name := range probe.MemberNames(probe.BodySchema(op), 0) {
			for i, value := range values {
				if len(value) > 100_000 && (o+m)%8 > 0 { // the largest values are read in the same way
					continue
				}
				w := b.ask(t, op.Method, b.target(op, "", ""), `{"`+name+`":`+value+`}`)
				if n := max(shown(w.Body.String(), long), repeats(w.Body.String(), digits)); n > mostShown &&
					w.Code >= http.StatusBadRequest {
					t.Errorf("%s: value %d as %s: %d, %d bytes shown: %.600s", op.OperationID, i, name, w.Code, n,
						w.Body)
				}
			}
		}
	}
}

// repeats returns the length of the longest run of digits in a text that digits begins with.
func repeats(text, digits string) int {
	at := strings.Index(text, digits[:20])
	if at < 0 {
		return 0
	}
	n := 0
	for at+n < len(text) && n < len(digits) && text[at+n] == digits[n] {
		n++
	}
	return n
}

// exports follows each export from page to page. The data of this service fits into one page; the tests of package
// rest cover several pages.
func (b *bad) exports(t *testing.T) {
	some := 0
	for _, op := range b.ops {
		if !strings.HasSuffix(op.Path, "/export") {
			continue
		}
		ok := op.Responses.Status(http.StatusOK).Value
		if ok.Content["application/yaml"] != nil {
			continue // a document, which has no rows
		}
		some++
		whole := op.Responses.Status(http.StatusAccepted) != nil // an export too large for an answer is a job
		if !whole && (ok.Headers["Link"] == nil || op.Parameters.GetByInAndName(
			"query", "cursor") == nil || op.Parameters.GetByInAndName("query", "format") == nil) {
			t.Errorf("%s does not go on from answer to answer: embed rest.Export", op.OperationID)
		}
		if w := b.ask(t, op.Method, op.Path+"?cursor=none!", ""); !whole &&
			(w.Code != http.StatusBadRequest || !strings.HasPrefix(message(w.Body.Bytes()), "cursor: ")) {
			t.Errorf("%s: a cursor that is none: %d %s", op.OperationID, w.Code, w.Body)
		}
		for format, kind := range map[string]string{
			"csv":    "text/csv; charset=utf-8",
			"ndjson": "application/x-ndjson",
		} {
			w := b.ask(t, op.Method, op.Path+"?format="+format, "")
			if w.Code != http.StatusOK || w.Header().Get("Content-Type") != kind ||
				strings.Count(w.Body.String(), "\n") < 5 {
				t.Errorf("%s as %s: %d %s %.100s", op.OperationID, format, w.Code, w.Header(), w.Body)
			}
		}
	}
	if some < 2 {
		t.Errorf("%d exports", some)
	}
}
