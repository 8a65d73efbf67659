package resource

import (
	"context"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws/wire"
)

// Detail adds the facts of types that AWS's index finds without any. One listing of the region, or of the resources on
// a page, answers for all of them; it is made only if the page has a resource of these types.
type Detail struct {
	Types []string
	Needs []string // permissions
	// Add adds facts to the resources of a page, whose facts are not nil. Facts that cannot be read are noted.
	Add func(ctx context.Context, at Place, found []*cloud.Resource)
}

// ByType returns the resources of one type.
func ByType(found []*cloud.Resource, kind string) (out []*cloud.Resource) {
	for _, r := range found {
		if r.Type == kind {
			out = append(out, r)
		}
	}
	return out
}

// NoteEachMissing notes for some resources that facts could not be read.
func NoteEachMissing(found []*cloud.Resource, err error, need string, names ...string) {
	for _, r := range found {
		NoteMissing(r.Facts, err, need, names...)
	}
}

// EachPage calls take with each page of a list.
func EachPage[I wire.Request, O wire.Response](ctx context.Context, call func(context.Context, I) (O, error), in I,
	take func(O),
) error {
	pages := wire.NewPages(call, in)
	for pages.HasMorePages() {
		out, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		take(out)
	}
	return nil
}
