package cloudtest

import (
	"fmt"
	"slices"
	"testing"

	"lamplighter.dev/shared/cloud"
)

// Collective are the resources of a cloud that have no kind, for the contract of the collective kind.
type Collective struct {
	Region string
	Facts  map[string]string // by uid of a resource without a kind: a fact that it must have
	Pages  int               // the list has at least so many pages
	// Break makes a call that the listing takes fail, and go on failing until it is mended. Nil leaves the case out.
	Break func(on bool)
}

// runCollective tests the collective kind against discovery's assumption: a resource that a complete listing does not
// contain is gone.
func (r run) runCollective(t *testing.T) {
	c := *r.f.Collective
	kind := cloud.CollectiveOf(r.p.Name()).Type
	whole, pages, err := r.everything(t, kind, c.Region)
	if err != nil || pages < c.Pages {
		t.Fatalf("%d pages, %v; want %d at least", pages, err, c.Pages)
	}
	t.Run("everything is told once, with its type and its facts", func(t *testing.T) { c.check(t, r, whole) })
	t.Run("a listing that fails does not end well", func(t *testing.T) {
		if c.Break == nil {
			t.Skip("SKIPPED: this cloud cannot be made to fail")
		}
		c.Break(true)
		part, _, err := r.everything(t, kind, c.Region)
		c.Break(false)
		if err == nil {
			t.Errorf("%d of %d resources, and no error: what is missing would be taken for gone", len(part), len(whole))
		}
		again, _, err := r.everything(t, kind, c.Region)
		if err != nil || len(again) != len(whole) {
			t.Errorf("%d resources, %v after it was mended; want %d", len(again), err, len(whole))
		}
	})
}

func (c Collective) check(t *testing.T, r run, whole map[string]cloud.Resource) {
	t.Helper()
	for uid, name := range c.Facts {
		one, is := whole[uid]
		if v, told := one.Facts[name]; !is || !told {
			t.Errorf("%s: listed %v, fact %s is %v", uid, is, name, v)
		}
	}
	listed := r.p.Kinds()
	for uid, one := range whole {
		if _, ok := cloud.KindOf(one.Type); !ok && one.Type != cloud.OtherType(r.p.Name()) {
			t.Errorf("%s is of type %s, which the catalogue does not have", uid, one.Type)
		}
		if one.Region != c.Region || one.Status == "" {
			t.Errorf("%s: %+v has no status, or is of another region", uid, one)
		}
		if slices.ContainsFunc(listed, func(k cloud.Kind) bool { return k.Type == one.Type && !k.Collected }) {
			t.Errorf("%s: a kind lists %s by itself", uid, one.Type)
		}
	}
}

// everything lists all pages, up to the first error.
func (r run) everything(t *testing.T, kind, region string) (map[string]cloud.Resource, int, error) {
	t.Helper()
	out := map[string]cloud.Resource{}
	for page, n := "", 1; ; n++ {
		got, err := r.conn.List(t.Context(), kind, region, page)
		if err != nil {
			return out, n, fmt.Errorf("page %d: %w", n, err)
		}
		for _, one := range got.Resources {
			if _, twice := out[one.UID]; twice {
				t.Errorf("%s is listed twice", one.UID)
			}
			out[one.UID] = one
		}
		if page = got.Next; page == "" || n > 1000 {
			return out, n, nil
		}
	}
}
