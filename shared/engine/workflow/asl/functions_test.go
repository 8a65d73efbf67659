package asl

import (
	"regexp"
	"strings"
	"testing"
)

func evaluate(text, data string) (any, error) {
	e, err := parseExpr(text)
	if err != nil {
		return nil, err
	}
	v, err := decodeJSON([]byte(data))
	if err != nil {
		return nil, err
	}
	return e.evaluate(scope{data: v, context: func() map[string]any { return map[string]any{"k": v} }})
}

func TestIntrinsicsAndPaths(t *testing.T) {
	const data = `{"a":"A","n":2,"l":[1,2,2.0,"2",{"x":1},{"x":1.0},[]],"o":{"k":1,"a.b":2},` +
		`"deep":[{"v":[1,2]},{"w":0},{"v":[3]}]}`
	for text, want := range map[string]string{
		`$.l[4].x`:       `1`,
		`$['o']['a.b']`:  `2`,
		`$.deep[*].v`:    `[[1,2],[3]]`,
		`$.deep[*].v[*]`: `[[1,2],[3]]`,
		`$$.k.n`:         `2`,
		`States.Format('{} \\ \{\} it\'s {}', $.n, $.o)`:               `"2 \\ {} it's {\"a.b\":2,\"k\":1}"`,
		`States.Format('{}', 'a\'b')`:                                  `"a'b"`,
		`States.ArrayUnique($.l)`:                                      `[1,2,"2",{"x":1},[]]`,
		`States.ArrayContains($.l, 1.0)`:                               `true`,
		`States.ArrayContains($.l, 'x')`:                               `false`,
		`States.ArrayRange(9, 1, -4)`:                                  `[9,5,1]`,
		`States.ArrayRange(1, 0, 1)`:                                   `[]`,
		`States.ArrayPartition(States.Array(), 2)`:                     `[]`,
		`States.Array(null, true, -1.5e0, '')`:                         `[null,true,-1.5e0,""]`,
		`States.MathAdd(1.5, 1.4)`:                                     `3`,
		`States.MathAdd(111111111111111111, -1)`:                       `111111111111111110`,
		`States.StringSplit('a-b+c--d', '-+')`:                         `["a","b","c","d"]`,
		`States.Base64Decode('aGk=')`:                                  `"hi"`,
		`States.Hash($.o, 'MD5')`:                                      `"9918eeb37fb42444e326e2781614d92e"`,
		`States.JsonMerge($.o, States.StringToJson('{"k":2}'), false)`: `{"a.b":2,"k":2}`,
		`States.ArrayLength($['l'])`:                                   `7`,
		`States.ArrayGetItem( $.l , 0 )`:                               `1`,
		`States.MathRandom(5, 6)`:                                      `5`,
	} {
		t.Run(text, func(t *testing.T) {
			got, err := evaluate(text, data)
			if err != nil {
				t.Fatal(err)
			}
			b, err := encodeJSON(got)
			if err != nil {
				t.Fatal(err)
			}
			if string(b) != want {
				t.Fatalf("got %s, want %s", b, want)
			}
		})
	}
}

func TestIntrinsicsRefuseWhatTheyCannotTake(t *testing.T) {
	for _, text := range []string{
		`States.Format('{} {}', 1)`, `States.Format('{}', 1, 2)`, `States.Format(1)`, `States.ArrayGetItem($.l, 9)`,
		`States.ArrayGetItem($.l, -1)`, `States.ArrayLength('x')`, `States.ArrayRange(1, 2000, 1)`,
		`States.ArrayRange(1, 2, 0)`,
		`States.ArrayPartition($.l, 0)`, `States.StringToJson('{')`, `States.StringToJson('1 2')`,
		`States.JsonMerge($, $, true)`,
		`States.JsonMerge($.l, $, false)`, `States.MathRandom(2, 2)`, `States.MathAdd('1', 1)`,
		`States.Base64Decode('*')`,
		`States.Hash('x', 'CRC')`, `States.MathAdd(9223372036854775807, 1)`, `States.StringSplit(1, 2)`,
	} {
		_, err := evaluate(text, `{"l":[1]}`)
		failsAs(t, err, "States.IntrinsicFailure")
	}
	_, err := evaluate(`$.l[1]`, `{"l":[1]}`)
	failsAs(t, err, "States.Runtime")
	deep := strings.Repeat("States.Array(", 11) + strings.Repeat(")", 11)
	if _, err := parseExpr(deep); err == nil {
		t.Fatal("11 calls within one another must be refused")
	}
}

func TestRandomIntrinsics(t *testing.T) {
	v, err := evaluate(`States.UUID()`, `1`)
	if s, _ := v.(string); err != nil ||
		!regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(s) {
		t.Fatalf("%v %v", v, err)
	}
	a, _ := evaluate(`States.MathRandom(0, 1000000, 7)`, `1`)
	b, _ := evaluate(`States.MathRandom(0, 1000000, 7)`, `1`)
	if !equalJSON(a, b) {
		t.Fatalf("one seed gave %v and %v", a, b)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"", "a", false},
		{"*", "", true},
		{"a*", "abc", true},
		{"*c", "abc", true},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "acb", false},
		{`a\*`, "a*", true},
		{`a\*`, "ab", false},
		{"ab*ba", "aba", false},
		{"*a*a*", "a", false},
		{`\\*`, `\x`, true},
		{strings.Repeat("*a", 40) + "b", strings.Repeat("a", 2000), false},
	} {
		if got := matchGlob(c.pattern, c.s); got != c.want {
			t.Errorf("glob(%q, %q) = %t", c.pattern, c.s, got)
		}
	}
}
