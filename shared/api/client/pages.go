package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	pageSize  = 100 // the largest page of the service's lists
	firstPoll = time.Second
	lastPoll  = 10 * time.Second
)

// Records reads a list page by page, as many as limit says; 0 is all. It keeps one page in memory. Pages are items with
// a total, or bare arrays that end with a short page. A list without a parameter page is read with paged false.
func (c *Client) Records(ctx context.Context, r Request, limit int, paged bool) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		l := &list{c: c, r: r, limit: limit, paged: paged}
		for !l.done {
			page, err := l.next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, record := range page {
				if !yield(record, nil) {
					return
				}
			}
		}
	}
}

// list is a list and the position in it.
type list struct {
	c     *Client
	r     Request
	limit int
	paged bool
	page  int
	seen  int
	done  bool
}

// next returns the next page, cut to the limit.
func (l *list) next(ctx context.Context) ([]json.RawMessage, error) {
	l.page++
	r, size := l.r, pageSize
	if l.limit > 0 {
		size = min(size, l.limit)
	}
	if l.paged {
		r.Query = maps.Clone(r.Query)
		if r.Query == nil {
			r.Query = map[string][]string{}
		}
		r.Query.Set("page", strconv.Itoa(l.page))
		r.Query.Set("limit", strconv.Itoa(size))
	}
	var raw json.RawMessage
	if err := l.c.Call(ctx, r, &raw); err != nil {
		return nil, err
	}
	records, total, err := decodePage(raw)
	l.seen += len(records)
	l.done = !l.paged || len(records) < size || total >= 0 && l.seen >= total || l.limit > 0 && l.seen >= l.limit
	if over := l.seen - l.limit; l.limit > 0 && over > 0 {
		records = records[:len(records)-over]
	}
	return records, err
}

// decodePage reads a bare array, or an object with items and a total. total is -1 if the page does not tell it.
func decodePage(raw json.RawMessage) (records []json.RawMessage, total int, err error) {
	if bytes.HasPrefix(raw, []byte("[")) {
		return records, -1, json.Unmarshal(raw, &records)
	}
	page := struct {
		Items []json.RawMessage `json:"items"`
		Total int               `json:"total"`
	}{Total: -1}
	err = json.Unmarshal(raw, &page)
	return page.Items, page.Total, err
}

// Cursor reads an answer that comes in pieces: next returns the cursor of the following piece, or "" at the end. Each
// piece is passed to next as the member data.
func (c *Client) Cursor(
	ctx context.Context, r Request, next func(data json.RawMessage) (cursor string, err error),
) error {
	for {
		var data json.RawMessage
		if err := c.Call(ctx, r, &data); err != nil {
			return err
		}
		cursor, err := next(data)
		if err != nil || cursor == "" {
			return err
		}
		r.Query = maps.Clone(r.Query)
		if r.Query == nil {
			r.Query = map[string][]string{}
		}
		r.Query.Set("cursor", cursor)
	}
}

// Poll calls read at once, and after pauses of 1, 1.5, 2.25 and at most 10 seconds, until it reports that the work is
// done or ctx ends. It is for work that was accepted with 202, and for actions.
func (c *Client) Poll(ctx context.Context, read func(ctx context.Context) (done bool, err error)) error {
	for pause := firstPoll; ; pause = min(pause*3/2, lastPoll) {
		done, err := read(ctx)
		if err != nil || done {
			return err
		}
		if err = c.o.Clock.Sleep(ctx, pause); err != nil {
			return err
		}
	}
}

// Job starts work by r, which answers 202 with a statusURL, and polls that address until done reports the end. done
// gets the member data of each answer.
func (c *Client) Job(ctx context.Context, r Request, done func(data json.RawMessage) (bool, error)) error {
	var started json.RawMessage
	if err := c.Call(ctx, r, &started); err != nil {
		return err
	}
	var at struct {
		StatusURL string `json:"statusURL"`
	}
	if err := json.Unmarshal(started, &at); err != nil {
		return err
	}
	if ended, err := done(started); err != nil || ended {
		return err
	}
	if !strings.HasPrefix(at.StatusURL, "/") {
		return fmt.Errorf("%s %s started work, and the answer has no statusURL below %s", r.Method, r.Path, c.base)
	}
	poll := Request{Method: http.MethodGet, Path: at.StatusURL}
	return c.Poll(ctx, func(ctx context.Context) (bool, error) {
		var data json.RawMessage
		if err := c.Call(ctx, poll, &data); err != nil {
			return false, err
		}
		return done(data)
	})
}
