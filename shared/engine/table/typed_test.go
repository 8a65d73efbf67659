package table_test

import (
	"testing"
	"time"

	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/tabletest"
)

// inner and outer are structs like those of records.
type inner struct {
	ID   string `json:"id"`
	Note string `json:"note,omitempty"`
}

type outer struct {
	inner

	Size   int `json:"size"`
	Plain  bool
	Hidden int `json:"-"`
}

func TestPutFields_LeavesWhatTheTypeDoesNotHave(t *testing.T) {
	s, k := tabletest.New(t), table.Key{PK: "p", SK: "1"}
	end := time.Now().Add(time.Hour).Truncate(time.Second).UTC()
	was := table.Item{
		Key:  k,
		Data: []byte(`{"id":"a","note":"gone","size":1,"Plain":false,"Hidden":7,"later":{"x":[1]}}`), Expires: end,
	}
	mustWrite(t, s, was)
	w, err := table.PutFields(k, outer{inner: inner{ID: "b"}, Size: 2, Plain: true}, table.Equal("id", "a"))
	if err != nil {
		t.Fatal(err)
	}
	it, err := s.Write(t.Context(), w)
	if want := `{"id":"b","size":2,"Plain":true,"Hidden":7,"later":{"x":[1]}}`; err != nil || string(it.Data) != want ||
		!it.Expires.Equal(end) {
		t.Errorf("%s until %v, %v; want %s", it.Data, it.Expires, err, want)
	}
	if _, err = s.Write(t.Context(), w); !fault.Is(err, fault.Conflict) {
		t.Errorf("its condition was not looked at: %v", err)
	}
	if _, err = table.PutFields(k, struct{ F func() }{}); err == nil {
		t.Error("a function was encoded")
	}
}
