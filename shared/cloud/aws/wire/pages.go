package wire

import "context"

// Request is the request of a list that comes in pages. PageToken returns the place of the token that names the page.
type Request interface{ PageToken() **string }

// Response is a page of a list. NextPageToken returns the token of the next page, or nil.
type Response interface{ NextPageToken() *string }

// Pages reads the pages of a list one after the other.
type Pages[I Request, O Response] struct {
	call  func(context.Context, I) (O, error)
	in    I
	begun bool
}

// NewPages returns the pages of a call. It writes the token of each page into in.
func NewPages[I Request, O Response](call func(context.Context, I) (O, error), in I) *Pages[I, O] {
	return &Pages[I, O]{call: call, in: in}
}

// HasMorePages reports whether there is a page to ask for.
func (p *Pages[I, O]) HasMorePages() bool {
	t := *p.in.PageToken()
	return !p.begun || t != nil && *t != ""
}

// NextPage returns the next page.
func (p *Pages[I, O]) NextPage(ctx context.Context) (O, error) {
	out, err := p.call(ctx, p.in)
	if err != nil {
		return out, err
	}
	p.begun = true
	*p.in.PageToken() = out.NextPageToken()
	return out, nil
}
