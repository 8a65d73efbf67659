package rest

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

// sample has a member of each kind that is checked.
type sample struct {
	Name  string            `json:"name"`
	Tags  map[string]string `json:"tags"`
	Free  any               `json:"free"`
	Parts []struct {
		Size int `json:"size"`
	} `json:"parts"`
	Patch Patch[struct {
		Zone string `json:"zone"`
	}] `json:"patch"`
}

func TestStrict(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		ok   bool
	}{
		"plain": {`{"name":"a","tags":{"x":"y"},"free":[1,true,null,{"a":-0}],"parts":[{"size":1},{"size":2}]}`, true},
		"white space everywhere": {
			" { \"name\" : \"a\" ,\n\t\"parts\" : [ { \"size\" : 1 } , { } ] } ",
			true,
		},
		"keys of a map may differ in case":    {`{"tags":{"Env":"a","env":"b"}}`, true},
		"keys of anything may differ in case": {`{"free":{"Env":1,"env":2}}`, true},
		"fields may not":                      {`{"name":"a","Name":"b"}`, false},
		"fields in a list may not":            {`{"parts":[{"size":1,"SIZE":2}]}`, false},
		"fields in a patch may not":           {`{"patch":{"zone":"a","ZONE":"b"}}`, false},
		"the long s folds, too":               {`{"parts":[{"size":1,"\u017fize":2}]}`, false},
		"a key twice in a map":                {`{"tags":{"a":"1","a":"2"}}`, false},
		"an escaped key is the same key":      {`{"tags":{"a":"1","\u0061":"2"}}`, false},
		"an escaped quote ends no string":     {`{"name":"a\"b","free":"\\"}`, true},
		"a pair of surrogates":                {`{"name":"\ud83d\ude00"}`, true},
		"two first halves":                    {`{"name":"\ud83d\ud83d"}`, false},
		"a second half alone":                 {`{"name":"\ude00"}`, false},
		"a half before another escape":        {`{"name":"\ud83d\n"}`, false},
		"a half at the end":                   {`{"name":"x\ud83d"}`, false},
		"no half, only looks like one":        {`{"name":"\\ud83d"}`, true},
		"32 levels":                           {strings.Repeat("[", 32) + strings.Repeat("]", 32), true},
		"33 levels":                           {strings.Repeat("[", 33) + strings.Repeat("]", 33), false},
		"brackets in a string are no levels":  {`"` + strings.Repeat("[", 99) + `"`, true},
		"a comment":                           {`{} // x`, false},
		"two values":                          {`{} {}`, false},
		"nothing":                             {``, false},
		"UTF-16":                              {"{\x00}\x00", false},
		"a string that does not end":          {`{"name":"`, false},
		"a string that ends in a back-slash":  {`"\`, false},
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkStrictJSON([]byte(c.body), reflect.TypeFor[sample]()); (err == nil) != c.ok {
				t.Error(err)
			}
		})
	}
}

// TestStrictIsFast sends the largest bodies that are designed to be slow.
func TestStrictIsFast(t *testing.T) {
	var many strings.Builder
	many.WriteString(`{"a":0`)
	for i := 0; many.Len() < MaxBody-20; i++ {
		many.WriteString(`,"` + strings.Repeat("k", i%5) + string(rune('a'+i%26)) + time.Duration(i).String() + `":0`)
	}
	many.WriteString("}")
	for name, body := range map[string]string{
		"brackets": strings.Repeat("[", MaxBody), "quotes": strings.Repeat(`"`, MaxBody), "members": many.String(),
	} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			_ = checkStrictJSON([]byte(body), reflect.TypeFor[sample]())
			// tens of milliseconds on a quiet machine; quadratic work takes minutes
			if took := time.Since(began); took > 5*time.Second {
				t.Errorf("took %v", took)
			}
		})
	}
}

func FuzzStrict(f *testing.F) {
	f.Add([]byte(`{"name":"a","parts":[{"size":1}],"free":"\ud83d\ude00"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var v any
		if err := checkStrictJSON(b, reflect.TypeFor[sample]()); err == nil && !json.Valid(b) {
			t.Errorf("let through %q: %v", b, json.Unmarshal(b, &v))
		}
	})
}
