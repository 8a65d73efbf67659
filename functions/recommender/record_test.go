package recommender

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/testkit/seed"
)

// plainTexts are texts of records that JSON holds as they are. escapedTexts are others.
var (
	plainTexts   = []string{"", "web", "Größe", "日本", "eu-west-1"}
	escapedTexts = []string{"a\"b", "<script>", "tab\t", "\u2028", "back\\slash", "\x00"}
)

// randomResource returns a resource with random members. Some are missing, and one text in 30 has escapes.
func randomResource(r *rand.Rand) inventory.Resource {
	text := func() string {
		if r.IntN(30) == 0 {
			return escapedTexts[r.IntN(len(escapedTexts))]
		}
		return plainTexts[r.IntN(len(plainTexts))]
	}
	out := inventory.Resource{
		ID: "res_01k0000000000000000000000a", UID: text(), Name: text(), Type: "aws-ec2", Provider: text(),
		CloudAccountID: text(), Region: text(), Zone: text(), Status: cloud.Status(text()), InstanceType: text(),
		ParentUID: text(), Unschedulable: text(), ActionID: text(), ActionType: cloud.Verb(text()),
		StatusAt: r.Int64() - r.Int64(), Scan: text(),
		DiscoveredAt: time.Unix(r.Int64N(2e9), r.Int64N(1e9)).UTC(),
		LastSeenAt:   time.Unix(r.Int64N(2e9), 0).In(time.FixedZone("", 3600*r.IntN(5))),
	}
	if r.IntN(2) == 0 {
		out.CreatedAt = time.Unix(r.Int64N(2e9), 0).UTC()
	}
	for n := range r.IntN(3) {
		if out.Tags == nil {
			out.Tags, out.Capacity, out.Facts = map[string]string{}, map[string]int64{}, cloud.Facts{}
		}
		out.Tags[text()], out.Capacity[text()], out.Facts[text()] = text(), r.Int64()-r.Int64(), n
	}
	return out
}

func TestReadRecord_AgreesWithEncodingJSON(t *testing.T) {
	r, plain := seed.Fixed(t, 22, 40), 0
	for range 5_000 {
		b, err := json.Marshal(randomResource(r))
		if err != nil {
			t.Fatal(err)
		}
		it := table.Item{Data: b}
		want, err := table.Decode[record](it)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := readRecord(it); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s\nis read as %+v, %v;\nwant %+v", b, got, err, want)
		}
		if !strings.Contains(string(b), "\\") {
			plain++
		}
	}
	if plain < 100 {
		t.Errorf("%d records have no escapes; want more, so that the agreement tells something", plain)
	}
}

func TestReadRecord_LeavesOtherFormsToEncodingJSON(t *testing.T) {
	for name, data := range map[string]string{
		"white space":                      ` { "id" : "res_1" , "tags" : { "a" : "b" } } `,
		"null":                             `{"id":null,"tags":null,"capacity":null,"createdAt":null,"statusAt":null}`,
		"a key with escapes":               `{"\u0069d":"res_1"}`,
		"a tag's key with escapes":         `{"tags":{"\u0069d":"res_1"}}`,
		"an unknown member":                `{"id":"res_1","other":[{"id":"res_2"}]}`,
		"a member twice":                   `{"id":"res_1","id":"res_2"}`,
		"bytes that are not UTF-8":         "{\"id\":\"\xff\"}",
		"a tag's key that is not UTF-8":    "{\"tags\":{\"\xff\":\"a\"}}",
		"a line break in a text":           "{\"id\":\"a\nb\"}",
		"a number in place of a text":      `{"id":7}`,
		"a fraction in place of a number":  `{"statusAt":1.5}`,
		"a sign before a number":           `{"statusAt":+1}`,
		"a time that is none":              `{"createdAt":"yesterday"}`,
		"a list in place of tags":          `{"tags":["a"]}`,
		"a record that is cut off":         `{"id":"res_1"`,
		"a record with something after it": `{"id":"res_1"}}`,
		"no record":                        `[]`,
	} {
		it := table.Item{Data: []byte(data)}
		want, wantErr := table.Decode[record](it)
		got, err := readRecord(it)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(err) != fmt.Sprint(wantErr) {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, err, want, wantErr)
		}
	}
}
