package integrations

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The credentials that twins accept.
const (
	goodToken  = "good-token-of-the-tests"
	goodKey    = "0123456789abcdef0123456789abcdef"
	goodMail   = "ops@example.com"
	goodSecret = "good-secret"
)

// twin is a local server in place of a service. It checks requests against the vendor's documentation; a wrong request
// fails the test.
type twin struct {
	*httptest.Server
	t  *testing.T
	mu sync.Mutex

	alerts   []map[string]any    // PagerDuty: enqueued, in turn
	changes  []map[string]any    // PagerDuty: change events
	issues   map[string]document // Jira, by key
	comments map[string][]document
	fails    int // how many requests fail first
	status   int // the status of the answer
	after    string
	lost     bool // an issue is created, and the answer is lost
	asked    []string
	echoes   bool
	realm    string // the token server that the registry names; empty means this twin
}

type document struct {
	Summary string
	Labels  []string
	Text    string
}

func newTwin(t *testing.T) *twin {
	t.Helper()
	w := &twin{t: t, issues: map[string]document{}, comments: map[string][]document{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /user", w.gitHubUser)
	mux.HandleFunc("GET /api/v4/user", w.gitLabUser)
	mux.HandleFunc("POST /v2/auth/token", w.dockerHub)
	mux.HandleFunc("GET /v2/", w.registry)
	mux.HandleFunc("GET /token", w.registryToken)
	mux.HandleFunc("POST /v2/enqueue", w.enqueue)
	mux.HandleFunc("POST /v2/change/enqueue", w.enqueueChange)
	mux.HandleFunc("GET /rest/api/3/myself", w.jira(w.myself))
	mux.HandleFunc("POST /rest/api/3/search/jql", w.jira(w.search))
	mux.HandleFunc("POST /rest/api/3/issue", w.jira(w.createIssue))
	mux.HandleFunc("POST /rest/api/3/issue/{key}/comment", w.jira(w.addComment))
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asked = append(w.asked, r.Method+" "+r.URL.Path)
		if w.fails > 0 {
			w.fails--
			if w.after != "" {
				rw.Header().Set("Retry-After", w.after)
			}
			http.Error(rw, "try later", w.status)
			return
		}
		if w.echoes {
			body, _ := io.ReadAll(r.Body)
			rw.WriteHeader(http.StatusTeapot)
			fmt.Fprintf(rw, "%v %s", r.Header, body)
			return
		}
		mux.ServeHTTP(rw, r)
	}))
	t.Cleanup(w.Close)
	return w
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// docs.github.com, "Get the authenticated user".
func (w *twin) gitHubUser(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("X-GitHub-Api-Version") == "" || r.Header.Get("User-Agent") == "" {
		w.t.Errorf("GitHub wants a version and a user agent: %v", r.Header)
	}
	if r.Header.Get("Authorization") != "Bearer "+goodToken {
		answer(rw, http.StatusUnauthorized, map[string]string{"message": "Bad credentials"})
		return
	}
	answer(rw, http.StatusOK, map[string]any{"login": "octocat", "id": 1})
}

// docs.gitlab.com, "Get the current user".
func (*twin) gitLabUser(rw http.ResponseWriter, r *http.Request) {
	if r.Header.Get("PRIVATE-TOKEN") != goodToken {
		answer(rw, http.StatusUnauthorized, map[string]string{"message": "401 Unauthorized"})
		return
	}
	answer(rw, http.StatusOK, map[string]any{"id": 1, "username": "root"})
}

// docs.docker.com, "Create access token".
func (w *twin) dockerHub(rw http.ResponseWriter, r *http.Request) {
	var in struct{ Identifier, Secret string }
	w.decode(r, &in)
	if in.Identifier != "octo" || in.Secret != goodToken {
		answer(rw, http.StatusUnauthorized, map[string]string{"detail": "Incorrect authentication credentials"})
		return
	}
	answer(rw, http.StatusOK, map[string]string{"access_token": "x"})
}

// distribution.github.io, "Token authentication specification".
func (w *twin) registry(rw http.ResponseWriter, _ *http.Request) {
	rw.Header().Set("WWW-Authenticate",
		fmt.Sprintf(`Bearer realm="%s",service="registry.example"`, cmp.Or(w.realm, w.URL+"/token")))
	answer(rw, http.StatusUnauthorized, map[string]any{"errors": []any{}})
}

func (w *twin) registryToken(rw http.ResponseWriter, r *http.Request) {
	user, pass, _ := r.BasicAuth()
	if r.URL.Query().Get("service") != "registry.example" || user == "" {
		w.t.Errorf("a token is asked for by %s as %q", r.URL, user)
	}
	if pass != goodSecret && pass != `{"type":"service_account"}` {
		answer(rw, http.StatusUnauthorized, map[string]any{"errors": []any{}})
		return
	}
	answer(rw, http.StatusOK, map[string]string{"token": "x"})
}

// decode decodes a body and fails the test if it has unknown members.
func (w *twin) decode(r *http.Request, into any) {
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil || r.Header.Get("Content-Type") != "application/json" {
		w.t.Errorf("%s %s: %v, %s", r.Method, r.URL.Path, err, r.Header.Get("Content-Type"))
	}
}

// payload is the payload of PagerDuty's events ("Send an Alert Event", "Send a Change Event").
type payload struct {
	Summary   string         `json:"summary"`
	Source    string         `json:"source"`
	Severity  string         `json:"severity"`
	Timestamp string         `json:"timestamp"`
	Component string         `json:"component"`
	Group     string         `json:"group"`
	Class     string         `json:"class"`
	Custom    map[string]any `json:"custom_details"`
}

func (w *twin) enqueue(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		RoutingKey string   `json:"routing_key"`
		Action     string   `json:"event_action"`
		DedupKey   string   `json:"dedup_key"`
		Client     string   `json:"client"`
		ClientURL  string   `json:"client_url"`
		Payload    *payload `json:"payload"`
	}
	w.decode(r, &in)
	if in.RoutingKey != goodKey {
		answer(rw, http.StatusBadRequest,
			map[string]any{
				"status": "invalid event", "message": "Event object is invalid",
				"errors": []string{"'routing_key' is invalid"},
			})
		return
	}
	if !slices.Contains([]string{"trigger", "acknowledge", "resolve"}, in.Action) || len(in.DedupKey) == 0 ||
		len(in.DedupKey) > 255 {
		w.t.Errorf("action %q, dedup_key %q", in.Action, in.DedupKey)
	}
	severity, summary := "", ""
	if in.Action == "trigger" {
		if in.Payload == nil {
			w.t.Fatal("a trigger without a payload")
		}
		severity, summary = in.Payload.Severity, in.Payload.Summary
		if n := len([]rune(summary)); n == 0 || n > 1024 || in.Payload.Source == "" ||
			!slices.Contains([]string{"critical", "error", "warning", "info"}, severity) {
			w.t.Errorf("payload %+v", in.Payload)
		}
	}
	w.alerts = append(w.alerts,
		map[string]any{"action": in.Action, "key": in.DedupKey, "severity": severity, "summary": summary})
	answer(rw, http.StatusAccepted,
		map[string]string{"status": "success", "message": "Event processed", "dedup_key": in.DedupKey})
}

func (w *twin) enqueueChange(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		RoutingKey string  `json:"routing_key"`
		Payload    payload `json:"payload"`
	}
	w.decode(r, &in)
	if in.RoutingKey != goodKey || in.Payload.Summary == "" || in.Payload.Timestamp == "" || in.Payload.Severity != "" {
		w.t.Errorf("change %+v", in)
	}
	w.changes = append(w.changes, map[string]any{"summary": in.Payload.Summary})
	answer(rw, http.StatusAccepted, map[string]string{"status": "success", "message": "Change event processed"})
}

// jira requires the API token of the account.
func (w *twin) jira(h http.HandlerFunc) http.HandlerFunc {
	return func(rw http.ResponseWriter, r *http.Request) {
		if user, pass, ok := r.BasicAuth(); !ok || user != goodMail || pass != goodToken {
			answer(rw, http.StatusUnauthorized, map[string]any{"errorMessages": []string{"You must be authenticated"}})
			return
		}
		h(rw, r)
	}
}

func (*twin) myself(rw http.ResponseWriter, _ *http.Request) {
	answer(rw, http.StatusOK, map[string]any{"accountId": "1", "displayName": "Ops Robot", "emailAddress": goodMail})
}

// developer.atlassian.com, "Search for issues using JQL enhanced search (POST)".
func (w *twin) search(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		JQL        string   `json:"jql"`
		MaxResults int      `json:"maxResults"`
		Fields     []string `json:"fields"`
	}
	w.decode(r, &in)
	found := []any{}
	for key, d := range w.issues {
		if slices.ContainsFunc(d.Labels, func(l string) bool { return strings.Contains(in.JQL, `labels = "`+l+`"`) }) {
			found = append(found, map[string]any{"id": "1", "key": key, "fields": map[string]any{"summary": d.Summary}})
		}
	}
	answer(rw, http.StatusOK, map[string]any{"issues": found, "isLast": true})
}

// countIssues returns the number of issues. A request whose answer was lost may still be running.
func (w *twin) countIssues() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.issues)
}

// countComments returns the number of comments of an issue.
func (w *twin) countComments(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.comments[key])
}

// developer.atlassian.com, "Create issue".
func (w *twin) createIssue(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		Fields struct {
			Project     struct{ Key string }  `json:"project"`
			IssueType   struct{ Name string } `json:"issuetype"`
			Summary     string                `json:"summary"`
			Description map[string]any        `json:"description"`
			Labels      []string              `json:"labels"`
		} `json:"fields"`
	}
	w.decode(r, &in)
	f := in.Fields
	if f.IssueType.Name != "Task" || f.Summary == "" || len([]rune(f.Summary)) > 255 ||
		strings.ContainsAny(f.Summary, "\r\n") {
		w.t.Errorf("%+v", f)
	}
	if f.Project.Key != "OPS" {
		answer(rw, http.StatusBadRequest,
			map[string]any{
				"errorMessages": []string{},
				"errors":        map[string]string{"project": "valid project is required"},
			})
		return
	}
	for _, l := range f.Labels {
		if l == "" || len(l) > 255 || strings.ContainsAny(l, " \t\n") {
			w.t.Errorf("label %q", l)
		}
	}
	key := fmt.Sprintf("OPS-%d", len(w.issues)+1)
	w.issues[key] = document{f.Summary, f.Labels, w.text(f.Description)}
	if w.lost {
		w.lost = false
		panic(http.ErrAbortHandler)
	}
	answer(rw, http.StatusCreated,
		map[string]string{"id": "10000", "key": key, "self": w.URL + "/rest/api/3/issue/10000"})
}

// developer.atlassian.com, "Add comment".
func (w *twin) addComment(rw http.ResponseWriter, r *http.Request) {
	var in struct {
		Body map[string]any `json:"body"`
	}
	w.decode(r, &in)
	key := r.PathValue("key")
	if _, there := w.issues[key]; !there {
		answer(rw, http.StatusNotFound,
			map[string]any{"errorMessages": []string{"Issue does not exist or you do not have permission to see it."}})
		return
	}
	w.comments[key] = append(w.comments[key], document{Text: w.text(in.Body)})
	answer(rw, http.StatusCreated, map[string]string{"id": "1"})
}

// text returns the text of an Atlassian document (developer.atlassian.com, "Atlassian Document Format"). It knows the
// nodes that we write.
func (w *twin) text(doc map[string]any) string {
	if doc["type"] != "doc" || doc["version"] != 1.0 {
		w.t.Errorf("no document: %v", doc)
	}
	var b strings.Builder
	w.walk(&b, doc, []string{"paragraph", "bulletList"})
	return b.String()
}

// within maps each node type to the types of its child nodes.
var within = map[string][]string{"paragraph": {"text"}, "bulletList": {"listItem"}, "listItem": {"paragraph"}}

func (w *twin) walk(b *strings.Builder, node map[string]any, allowed []string) {
	content, _ := node["content"].([]any)
	if len(content) == 0 {
		w.t.Errorf("a node without content: %v", node)
	}
	for _, c := range content {
		child := c.(map[string]any)
		kind := child["type"].(string)
		if !slices.Contains(allowed, kind) {
			w.t.Errorf("%v holds %s", node["type"], kind)
		}
		if kind != "text" {
			w.walk(b, child, within[kind])
			continue
		}
		text, _ := child["text"].(string)
		if text == "" || len(child) != 2 {
			w.t.Errorf("a text with more than its text, or without: %v", child)
		}
		b.WriteString(text + "\n")
	}
}
