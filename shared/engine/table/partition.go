package table

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Partition is a pattern of partition keys: "ORG#*#RES" is the resources of any organization, "PENDING#*" each shard of
// that list. A * stands for one part of a key, which holds no #; at the end of a pattern for all that follows, which is
// something.
type Partition string

// orgPattern begins the patterns of an organization's partitions.
const orgPattern = "ORG#*#"

// OfOrg reports whether the pattern is of partitions of an organization.
func (p Partition) OfOrg() bool { return strings.HasPrefix(string(p), orgPattern) }

// Name returns what the pattern says behind the organization: "RES" of "ORG#*#RES". A partition of the system is its own name.
func (p Partition) Name() string { return strings.TrimPrefix(string(p), orgPattern) }

// Family reports whether the pattern is of any number of partitions of one organization, or of the system: it ends in *.
func (p Partition) Family() bool { return strings.HasSuffix(string(p), "*") }

// Matches reports whether the partition key pk is one of the pattern's.
func (p Partition) Matches(pk string) bool {
	pattern := string(p)
	for {
		fixed, rest, star := strings.Cut(pattern, "*")
		if !star {
			return pk == fixed
		}
		tail, ok := strings.CutPrefix(pk, fixed)
		if !ok || tail == "" {
			return false
		}
		if rest == "" {
			return true
		}
		end := strings.IndexByte(tail, '#')
		if end < 1 {
			return false
		}
		pattern, pk = rest, tail[end:]
	}
}

// Access is which partitions a function may touch, and how. What it may write or append to it may read as well.
type Access struct {
	Reads  []Partition // Get, BatchGet, Query, and Check in a transaction
	Writes []Partition // besides, every verb
	// Appends are for chains, of which nothing may be changed or deleted: besides reading only a conditional put in a
	// transaction. IAM can say the second half of that (dynamodb:EnclosingOperation), the fence says both.
	Appends []Partition
}

// With returns a and all of more. Each pattern stands once, where it allows most, in order.
func (a Access) With(more ...Access) Access {
	for _, m := range more {
		a.Reads = append(slices.Clip(a.Reads), m.Reads...)
		a.Writes = append(slices.Clip(a.Writes), m.Writes...)
		a.Appends = append(slices.Clip(a.Appends), m.Appends...)
	}
	return Access{
		Reads:   less(a.Reads, a.Writes, a.Appends),
		Writes:  less(a.Writes),
		Appends: less(a.Appends, a.Writes),
	}
}

// All returns the patterns that may be read, in order.
func (a Access) All() []Partition { return less(slices.Concat(a.Reads, a.Writes, a.Appends)) }

// less is ps in order, each once, without those of others.
func less(ps []Partition, others ...[]Partition) []Partition {
	out := slices.Clone(ps)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p Partition) bool {
		return slices.ContainsFunc(others, func(o []Partition) bool { return slices.Contains(o, p) })
	})
}

// Unlimited is the access of a process that is no function, such as a command of an operator's.
var Unlimited = Access{Writes: []Partition{"*"}}

// matchesAny reports whether one of the patterns is of pk.
func matchesAny(ps []Partition, pk string) bool {
	return slices.ContainsFunc(ps, func(p Partition) bool { return p.Matches(pk) })
}

// reads reports whether pk may be read.
func (a *Access) reads(pk string) bool {
	return matchesAny(a.Writes, pk) || matchesAny(a.Reads, pk) || matchesAny(a.Appends, pk)
}

// allows reports whether the write may be done; in a transaction more is allowed.
func (a *Access) allows(w *Write, transaction bool) bool {
	pk := w.Item.PK
	switch {
	case w.Verb == CheckVerb:
		return a.reads(pk)
	case matchesAny(a.Writes, pk):
		return true
	}
	return transaction && w.Verb == PutVerb && len(w.If) > 0 && matchesAny(a.Appends, pk)
}

// function is the one that a context's calls are made for.
type function struct {
	name   string
	access Access
}

type functionKey struct{}

// As says for which function the store calls of ctx are made: a Confined store holds them to its access. It is for a
// process that many functions share; one that is a function by itself has its access from Confined. What is attached to ctx is
// of the function that calls, and not stored with what this one changes.
func As(ctx context.Context, name string, access Access) context.Context {
	return context.WithValue(WithoutAttachment(ctx), functionKey{}, &function{name, access})
}

// functionOf returns the function that ctx names, or else f.
func functionOf(ctx context.Context, f *function) *function {
	named, _ := ctx.Value(functionKey{}).(*function)
	return cmp.Or(named, f)
}
