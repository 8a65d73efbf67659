package inventory

import (
	"context"
	"fmt"

	"lamplighter.dev/shared/domain/inventory/index"
	"lamplighter.dev/shared/engine/table"
)

// Tagger reads the smart tags of organizations.
type Tagger interface {
	// TagsOf returns a function that returns the accepted tags of a resource, at a version of the tags. A cached
	// version costs no round trip.
	TagsOf(ctx context.Context, org, version string) (func(*Resource) map[string]string, error)
}

// smartTagsSK is the sort key of the version of the smart tags. It is beside the index, so that both are read
// together.
const smartTagsSK = "E#smarttags"

// smartTagsHead is the version of an organization's smart tags.
type smartTagsHead struct {
	Version string `json:"version"`
}

// NoteSmartTags returns the write that must accompany each change of an organization's smart tags. The version must be
// new.
func NoteSmartTags(org, version string) (table.Write, error) {
	it, err := table.NewItem(index.Key(org, smartTagsSK), smartTagsHead{version})
	return table.Put(it), err
}

// addSmartTags adds smart tags to a listing that requests them. It takes no round trip while the tags are unchanged.
func (v *view) addSmartTags(ctx context.Context, l listing, sight *Visibility) error {
	if sight.Tagger == nil {
		return nil
	}
	var h smartTagsHead
	for _, it := range headsOf(v.read.Heads, smartTagsSK) {
		var err error
		if h, err = table.Decode[smartTagsHead](it); err != nil {
			return fmt.Errorf("read the version of the smart tags of %s: %w", v.org, err)
		}
	}
	tags, err := sight.Tagger.TagsOf(ctx, v.org, h.Version)
	if err != nil {
		return err
	}
	for i := range l.out {
		l.out[i].SmartTags = tags(&l.out[i].Resource)
	}
	return nil
}
