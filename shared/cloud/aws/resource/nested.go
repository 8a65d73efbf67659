package resource

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/cloud"
)

// nested is a position in a nested listing (services in clusters), encoded as a page token of ours.
type nested struct {
	Outer string   `json:"o,omitempty"` // the next page of outer things, after Queue
	Queue []string `json:"q,omitempty"` // outer things still to list; the first one is at page Inner
	Inner string   `json:"i,omitempty"`
}

// Lister lists outer things page by page, and the resources inside of one outer thing page by page.
type Lister struct {
	Outer func(ctx context.Context, page string) (things []string, next string, err error)
	Inner func(ctx context.Context, thing, page string) (found []cloud.Resource, next string, err error)
}

// ListPage returns the page of resources at the token at, with the token of the next page.
func (l Lister) ListPage(ctx context.Context, at string) (cloud.ResourcePage, error) {
	var n nested
	if at != "" {
		if err := json.Unmarshal([]byte(at), &n); err != nil {
			return cloud.ResourcePage{}, cloud.ErrInvalid("page %q is not one of this listing", at)
		}
	}
	var err error
	if len(n.Queue) == 0 {
		if n.Queue, n.Outer, err = l.Outer(ctx, n.Outer); err != nil {
			return cloud.ResourcePage{}, err
		}
	}
	var p cloud.ResourcePage
	if len(n.Queue) > 0 {
		if p.Resources, n.Inner, err = l.Inner(ctx, n.Queue[0], n.Inner); err != nil {
			return cloud.ResourcePage{}, err
		}
		if n.Inner == "" {
			n.Queue = n.Queue[1:]
		}
	}
	p.Next = n.String()
	return p, nil
}

// String returns the page token; "" at the end.
func (n nested) String() string {
	if n.Outer == "" && len(n.Queue) == 0 {
		return ""
	}
	return string(cloud.EncodeSnapshot(n))
}
