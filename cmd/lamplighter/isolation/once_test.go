package isolation

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"

	"lamplighter.dev/cmd/lamplighter/testenv"
	"lamplighter.dev/cmd/lamplighter/testenv/probe"
)

// TestOnce repeats requests that must take effect only once.
func TestOnce(t *testing.T) {
	t.Parallel()
	s := probe.Start(t)
	c, other := s.NewCaller(t, s.NewOwner("once@example.com")), s.NewCaller(t, s.NewOwner("other@example.com"))
	c.ConnectAccount("once-1", testenv.FastCloud(60))
	other.ConnectAccount("other-1", testenv.FastCloud(60))
	mine := testenv.RunningInstances(t, c.Client, 1)[0]
	for _, w := range []struct{ path, body, another, answer string }{
		{"/actions", encode(t, mine.Order("stop")), encode(t, mine.Order("start")), "actionID"},
		{"/resource-groups", `{"name":"Once"}`, `{"name":"Once more"}`, "id"},
		{"/cloud-accounts", connection("once-2"), connection("once-3"), "id"},
		{"/organisations", `{"name":"Once"}`, `{"name":"Once more"}`, "id"},
	} {
		t.Run("POST "+w.path, func(t *testing.T) {
			first := c.Ask(t, http.MethodPost, w.path, w.body, "Idempotency-Key", "k-1")
			again := c.Ask(t, http.MethodPost, w.path, w.body, "Idempotency-Key", "k-1")
			if first.Code != http.StatusOK || again.Code != first.Code || again.Body.String() != first.Body.String() ||
				again.Header().Get("Idempotency-Replayed") != "true" ||
				!strings.Contains(first.Body.String(), w.answer) {
				t.Errorf("first %d %s\nagain %d %v %s", first.Code, first.Body, again.Code, again.Header(), again.Body)
			}
			if first.Header().Get("X-Request-Id") == again.Header().Get("X-Request-Id") {
				t.Error("two requests have one name")
			}
			if got := c.Ask(t, http.MethodPost, w.path, w.another, "Idempotency-Key",
				"k-1"); got.Code != http.StatusConflict {
				t.Errorf("another body under the key: %d %s", got.Code, got.Body)
			}
			if got := other.Ask(t, http.MethodPost, w.path, w.body, "Idempotency-Key",
				"k-1"); got.Header().Get("Idempotency-Replayed") != "" ||
				strings.Contains(got.Body.String(), idOf(t, first.Body.Bytes(), w.answer)) {
				t.Errorf("another's key answers: %d %s", got.Code, got.Body)
			}
			for _, key := range []string{"", strings.Repeat("k", 256), "a\tb", "a\u202eb"} {
				if got := c.Ask(t, http.MethodPost, w.path, w.another, "Idempotency-Key",
					key); got.Code != http.StatusBadRequest {
					t.Errorf("key %.20q: %d %s", key, got.Code, got.Body)
				}
			}
		})
	}
	t.Run("many at once make one", func(t *testing.T) {
		seen := make([]int, 600)
		var mu sync.Mutex
		var all sync.WaitGroup
		made := map[string]bool{}
		for range 20 {
			all.Go(func() {
				w := c.Ask(t, http.MethodPost, "/resource-groups", `{"name":"At once"}`, "Idempotency-Key", "k-2")
				mu.Lock()
				defer mu.Unlock()
				seen[w.Code]++
				if w.Code == http.StatusOK {
					made[idOf(t, w.Body.Bytes(), "id")] = true
				}
			})
		}
		all.Wait()
		if len(made) != 1 || seen[http.StatusOK]+seen[http.StatusConflict] != 20 {
			t.Errorf("made %v, answers %d ok, %d conflicts", made, seen[http.StatusOK], seen[http.StatusConflict])
		}
	})
}

// connection returns the body that connects a small simulated account.
func connection(number string) string {
	return `{"name":"Cloud ` + number + `","provider":"simulated","cloudAccountID":"` + number +
		`","authMethod":"simulated","permissionLevel":"read_write","credentials":{"size":"1"}}`
}

func encode(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// idOf returns the named member of an answer. It is the id of a new record.
func idOf(t *testing.T, answer []byte, name string) string {
	t.Helper()
	var out struct {
		Data map[string]any `json:"data"`
	}
	if err := json.Unmarshal(answer, &out); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	id, _ := out.Data[name].(string)
	if id == "" {
		t.Errorf("no %s in %s", name, answer)
	}
	return id
}
