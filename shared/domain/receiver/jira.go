package receiver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lamplighter.dev/shared/domain/delivery"
	"lamplighter.dev/shared/domain/event"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

const (
	issuePrefix = "ISSUE#"
	keepIssue   = 180 * 24 * time.Hour // after its last event; a later one opens another issue
	claimIssue  = time.Minute          // longer than a delivery takes
)

// issue is the Jira issue for the events of a thread. Until Claimed, a delivery may be creating it. Last is the last
// delivery that was recorded, so that a delivery that is retried after a lost answer adds no second comment.
type issue struct {
	Key     string `json:"key,omitempty"`
	Claimed int64  `json:"claimed,omitempty"` // seconds since 1970
	Last    string `json:"last,omitempty"`
}

func issueKey(org, integrationID, thread string) table.Key {
	return integrationKind.Key(org, issuePrefix+integrationID+"#"+dedupKey(org, integrationID, thread))
}

// jira is the delivery of an event or a digest to a Jira project.
type jira struct {
	*IntegrationServices
	m      *delivery.Message
	e      *event.Event
	c      map[string]string
	thread string
	at     table.Key
}

// sendJira creates an issue for the first event of a thread and adds a comment for each further event. Each digest
// gets its own issue.
func (s *IntegrationServices) sendJira(ctx context.Context, m *delivery.Message, c map[string]string) (delivery.Answer,
	error,
) {
	if len(m.Events) == 0 {
		return delivery.Answer{}, fault.New(fault.Internal, "delivery %s has no event", m.ID)
	}
	j := jira{IntegrationServices: s, m: m, e: &m.Events[0], c: c}
	j.thread = threadOf(j.e)
	if len(m.Events) > 1 {
		j.thread = m.ID
	}
	j.at = issueKey(m.Org, m.Target.ID, j.thread)
	have, err := table.Read[issue](ctx, s.table, j.at)
	if err != nil && !fault.Is(err, fault.NotFound) {
		return delivery.Answer{}, fault.Wrap("read issue of "+j.thread, err)
	}
	switch {
	case have.Last == m.ID:
		return delivery.Answer{Status: http.StatusOK, Message: "told in " + have.Key}, nil
	case have.Key != "":
		return j.follow(ctx, have.Key)
	}
	return j.open(ctx)
}

// follow adds a comment to the issue of the thread. If the issue was deleted, one delivery creates a new one: the
// delivery that removes the key from the row.
func (j *jira) follow(ctx context.Context, key string) (delivery.Answer, error) {
	a, err := j.comment(ctx, key)
	if a.Status != http.StatusNotFound {
		return a, err
	}
	if claimed, err := j.claim(ctx, table.Equal("key", key)); err != nil || !claimed {
		return errClaimed(err)
	}
	return j.create(ctx)
}

// claim records that this delivery creates the issue of the thread, and removes the old key, if all conditions hold.
// It reports whether they did.
func (j *jira) claim(ctx context.Context, conds ...table.Cond) (bool, error) {
	now := j.clock.Now()
	_, err := j.table.Write(ctx, table.Update(j.at, []table.Change{
		table.Remove("key"), table.Set("claimed", now.Add(claimIssue).Unix()), table.Expire(now.Add(keepIssue)),
	}, conds...))
	if _, other := errors.AsType[*table.ConditionError](err); other {
		return false, nil
	}
	return err == nil, fault.Wrap("claim issue of "+j.thread, err)
}

// errClaimed returns the result of a delivery that could not claim the issue: err, or that another delivery is
// creating it.
func errClaimed(err error) (delivery.Answer, error) {
	if err != nil {
		return delivery.Answer{}, err
	}
	return delivery.Answer{RetryAfter: claimIssue},
		fault.New(fault.Unavailable, "another delivery is creating the issue; this one follows")
}

// open creates the issue, unless another delivery has claimed it or an earlier delivery created it and died.
func (j *jira) open(ctx context.Context) (delivery.Answer, error) {
	free := table.Any(table.Lacks("claimed"), table.Less("claimed", j.clock.Now().Unix()))
	if claimed, err := j.claim(ctx, table.Lacks("key"), free); err != nil || !claimed {
		return errClaimed(err)
	}
	key, status, err := j.find(ctx)
	if err != nil {
		return j.failed(ctx, delivery.Answer{Status: status}, err)
	}
	if key != "" {
		if a, err := j.comment(ctx, key); a.Status != http.StatusNotFound {
			return a, err
		}
	}
	return j.create(ctx)
}

// failed releases the claim, because a refused request created nothing, and returns why. Without an answer an issue
// may exist: the claim then expires, and the next try searches for the issue.
func (j *jira) failed(ctx context.Context, a delivery.Answer, why error) (delivery.Answer, error) {
	if a.Status == 0 {
		return a, why
	}
	_, err := j.table.Write(ctx, table.Update(j.at, []table.Change{table.Remove("claimed")}, table.Lacks("key")))
	if _, changed := errors.AsType[*table.ConditionError](err); err != nil && !changed {
		return a, errors.Join(why, fault.Wrap("give back the claim of "+j.thread, err))
	}
	return a, why
}

// label returns the Jira label of the thread's issues.
func (j *jira) label() string { return dedupKey(j.m.Org, j.m.Target.ID, j.thread) }

// find searches for the thread's issue in case a delivery created it and died before it recorded it ("Search for
// issues using JQL").
func (j *jira) find(ctx context.Context) (key string, status int, err error) {
	x, err := j.call(ctx, "/rest/api/3/search/jql", map[string]any{
		"jql":        fmt.Sprintf(`project = "%s" AND labels = "%s" ORDER BY created DESC`, j.c["project"], j.label()),
		"maxResults": 1, "fields": []string{"summary"},
	})
	if err != nil {
		return "", 0, err
	}
	if x.Status != http.StatusOK {
		_, err = answerOf("Jira", x)
		return "", x.Status, err
	}
	var found struct {
		Issues []struct {
			Key string `json:"key"`
		} `json:"issues"`
	}
	if err = json.Unmarshal(x.Body, &found); err != nil || len(found.Issues) == 0 {
		return "", x.Status, nil //nolint:nilerr // what cannot be read names no issue
	}
	return found.Issues[0].Key, x.Status, nil
}

// create creates the issue ("Create issue").
func (j *jira) create(ctx context.Context) (delivery.Answer, error) {
	x, err := j.call(ctx, "/rest/api/3/issue", map[string]any{"fields": map[string]any{
		"project": map[string]string{"key": j.c["project"]}, "issuetype": map[string]string{"name": j.c["issueType"]},
		"summary": j.summary(), "description": j.document(), "labels": []string{"lamplighter", j.label()},
	}})
	if err != nil {
		return delivery.Answer{}, err
	}
	a, err := answerOf("Jira", x)
	if err != nil {
		return j.failed(ctx, a, err)
	}
	var made struct {
		Key string `json:"key"`
	}
	if err = json.Unmarshal(x.Body, &made); err != nil || !issueName.MatchString(made.Key) {
		return a, fault.New(fault.Unavailable, "Jira created an issue and did not say which")
	}
	a.Message = "created " + made.Key
	return a, j.note(ctx, made.Key)
}

// comment adds a comment to an issue ("Add comment"). A deleted issue gives an answer with status 404.
func (j *jira) comment(ctx context.Context, key string) (delivery.Answer, error) {
	x, err := j.call(ctx, "/rest/api/3/issue/"+url.PathEscape(key)+"/comment", map[string]any{"body": j.document()})
	if err != nil {
		return delivery.Answer{}, err
	}
	a, err := answerOf("Jira", x)
	if err != nil {
		return a, err
	}
	a.Message = "told in " + key
	return a, j.note(ctx, key)
}

// note records the issue and this delivery. It does nothing when the thread has another issue now, so that a slow
// comment on a deleted issue does not restore its key.
func (j *jira) note(ctx context.Context, key string) error {
	_, err := j.table.Write(ctx, table.Update(j.at, []table.Change{
		table.Set("key", key), table.Set("last", j.m.ID), table.Remove("claimed"),
		table.Expire(j.clock.Now().Add(keepIssue)),
	}, table.Any(table.Lacks("key"), table.Equal("key", key))))
	if _, other := errors.AsType[*table.ConditionError](err); other {
		return nil
	}
	return fault.Wrap("note issue "+key, err)
}

func (j *jira) call(ctx context.Context, path string, body any) (Exchange, error) {
	x, err := j.ask(ctx,
		request{
			method: http.MethodPost, url: join(j.c["siteURL"], path), body: body, user: j.c["email"],
			pass: j.c["apiToken"], config: j.c,
		})
	return x, fault.Wrap("ask Jira", err)
}

// summary returns the title of the issue: one line of at most maxTitle characters.
func (j *jira) summary() string {
	if n := max(j.m.Total, len(j.m.Events)); n > 1 {
		return fault.CleanText(fmt.Sprintf("%d events: %s", n, titleOf(j.e)), maxTitle)
	}
	return titleOf(j.e)
}

// document returns the message in Atlassian Document Format. All text of users is plain text in it, never markup.
func (j *jira) document() map[string]any {
	var content []any
	if text := strings.TrimSpace(j.m.Text); text != "" {
		content = append(content, paragraph(fault.CleanText(text, 1000)))
	}
	for i := range j.m.Events {
		e := &j.m.Events[i]
		content = append(content, paragraph(titleOf(e)))
		var items []any
		for _, f := range factsOf(e) {
			items = append(items, node("listItem", paragraph(f.Name+": "+f.Text)))
		}
		content = append(content, node("bulletList", items...))
	}
	if more := j.m.Total - len(j.m.Events); more > 0 {
		content = append(content, paragraph(fmt.Sprintf("and %d more", more)))
	}
	return map[string]any{"version": 1, "type": "doc", "content": content}
}

func node(kind string, content ...any) map[string]any {
	return map[string]any{"type": kind, "content": content}
}

func paragraph(text string) map[string]any {
	return node("paragraph", map[string]any{"type": "text", "text": text})
}
