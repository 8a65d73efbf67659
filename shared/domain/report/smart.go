package report

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
)

// smartTags are the accepted tags of resources, by native ID and key.
type smartTags map[string]map[string]string

func isTag(dim string) bool { return dim == cost.TagKeysDim || strings.HasPrefix(dim, cost.TagDim) }

// tagged reports whether a question uses tags.
func tagged(q *cost.Question) bool {
	for dim := range q.Filter {
		if isTag(dim) {
			return true
		}
	}
	return slices.ContainsFunc(q.Dims, isTag)
}

// smartTags reads the accepted tags: one round trip, and one or two more if there are any.
func (r *Reader) smartTags(ctx context.Context) (smartTags, error) {
	st, err := r.smart.Read(ctx, identity.CallerOrg(ctx))
	if err != nil || st.Empty() {
		return nil, err
	}
	c := identity.CallerFrom(ctx)
	found, err := r.Inventory.ByUIDs(ctx, c.Org, st.UIDs(), inventory.SightOf(c, Policy))
	out := smartTags{}
	for i := range found {
		if tags := st.Tags(&found[i].Resource); len(tags) > 0 {
			out[found[i].UID] = tags
		}
	}
	return out, fault.Wrap("read what has smart tags", err)
}

// byResource returns q split also by resource and by the tags in its filter. It removes the tags from the filter,
// because retag applies it to smart tags too.
func byResource(q cost.Question) cost.Question {
	filter := map[string][]string{}
	dims := slices.Clone(q.Dims)
	for dim, values := range q.Filter {
		if !isTag(dim) {
			filter[dim] = values
		} else if !slices.Contains(dims, dim) {
			dims = append(dims, dim)
		}
	}
	slices.Sort(dims[len(q.Dims):])
	if !slices.Contains(dims, cost.ResourceDim) {
		dims = append(dims, cost.ResourceDim)
	}
	q.Dims, q.Filter = dims, filter
	return q
}

// retag turns the answer by resource into the answer to q. Resources without a cloud tag of a key count by their smart
// tag.
func (t smartTags) retag(q *cost.Question, a *cost.Answer) cost.Answer {
	asked := byResource(*q)
	out := cost.Answer{
		Estimated: a.Estimated, Unconverted: a.Unconverted, Attribution: a.Attribution,
		Days: make([]money.Amount, len(a.Days)),
	}
	at := map[string]int{}
	for i := range a.Rows {
		keys := t.keys(asked.Dims, a.Rows[i].Keys)
		if !passes(q, asked.Dims, keys) {
			continue
		}
		r := &a.Rows[i]
		keys = keys[:len(q.Dims)]
		n, had := at[strings.Join(keys, "\x00")]
		if !had {
			n = len(out.Rows)
			at[strings.Join(keys, "\x00")], out.Rows = n, append(out.Rows, cost.Row{Keys: keys})
		}
		out.Rows[n].Amount.Increase(&r.Amount)
		out.Rows[n].Days.Add(&r.Days)
		out.Total.Increase(&r.Amount)
		r.Days.AddTo(out.Days)
	}
	slices.SortFunc(out.Rows, func(x, y cost.Row) int {
		return cmp.Or(y.Amount.Cmp(x.Amount), slices.Compare(x.Keys, y.Keys))
	})
	if len(a.Days) == 0 {
		out.Days = nil
	}
	return out
}

// keys returns the keys of a row with the smart tags of its resource.
func (t smartTags) keys(dims, keys []string) []string {
	tags := t[keys[slices.Index(dims, cost.ResourceDim)]]
	if len(tags) == 0 {
		return keys
	}
	out := slices.Clone(keys)
	for i, dim := range dims {
		switch key, one := strings.CutPrefix(dim, cost.TagDim); {
		case dim == cost.TagKeysDim:
			out[i] = withKeys(out[i], tags)
		case one && out[i] == "":
			out[i] = tags[key]
		}
	}
	return out
}

// withKeys adds the keys of tags to list, which has one key on each line, sorted.
func withKeys(list string, tags map[string]string) string {
	var keys []string
	if list != "" {
		keys = strings.Split(list, "\n")
	}
	for key := range tags {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return strings.Join(keys, "\n")
}

// passes reports whether the tags of a row match the filter.
func passes(q *cost.Question, dims, keys []string) bool {
	for dim, values := range q.Filter {
		if isTag(dim) && !slices.Contains(values, keys[slices.Index(dims, dim)]) {
			return false
		}
	}
	return true
}
