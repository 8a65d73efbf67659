package table

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Partition is a pattern of partition keys: "ORG#*#RES" matches the resources of any organization, "PENDING#*" all
// shards of that list. A * matches one part of a key, without #. At the end of a pattern it matches the rest of the
// key, which must not be empty.
type Partition string

// orgPattern is the prefix of patterns for partitions of organizations.
const orgPattern = "ORG#*#"

// OfOrg reports whether the pattern matches partitions of organizations.
func (p Partition) OfOrg() bool { return strings.HasPrefix(string(p), orgPattern) }

// Name returns the pattern without the organization: "RES" for "ORG#*#RES". For other patterns it returns the pattern.
func (p Partition) Name() string { return strings.TrimPrefix(string(p), orgPattern) }

// Family reports whether the pattern matches several partitions of an organization, or of the system: it ends in *.
func (p Partition) Family() bool { return strings.HasSuffix(string(p), "*") }

// Matches reports whether the pattern matches the partition key pk.
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

// Access are the partitions that a function may access. Partitions in Writes and Appends may be read too.
type Access struct {
	Reads  []Partition // Get, BatchGet, Query, and Check in a transaction
	Writes []Partition // all verbs
	// Appends are for chains of items that are never changed or deleted. They permit reads, and conditional puts in a
	// transaction. IAM can enforce the transaction (dynamodb:EnclosingOperation), the fence enforces both.
	Appends []Partition
}

// With returns the union of a and all of more. Each pattern occurs once, with its strongest permission, sorted.
func (a Access) With(more ...Access) Access {
	for _, m := range more {
		a.Reads = append(slices.Clip(a.Reads), m.Reads...)
		a.Writes = append(slices.Clip(a.Writes), m.Writes...)
		a.Appends = append(slices.Clip(a.Appends), m.Appends...)
	}
	return Access{
		Reads:   sortedWithout(a.Reads, a.Writes, a.Appends),
		Writes:  sortedWithout(a.Writes),
		Appends: sortedWithout(a.Appends, a.Writes),
	}
}

// All returns the patterns that may be read, sorted.
func (a Access) All() []Partition { return sortedWithout(slices.Concat(a.Reads, a.Writes, a.Appends)) }

// sortedWithout returns ps without duplicates and without the patterns of others, sorted.
func sortedWithout(ps []Partition, others ...[]Partition) []Partition {
	out := slices.Clone(ps)
	slices.Sort(out)
	return slices.DeleteFunc(slices.Compact(out), func(p Partition) bool {
		return slices.ContainsFunc(others, func(o []Partition) bool { return slices.Contains(o, p) })
	})
}

// Unlimited is the access of a process that is not a function, such as an operator's command.
var Unlimited = Access{Writes: []Partition{"*"}}

// matchesAny reports whether one of the patterns matches pk.
func matchesAny(ps []Partition, pk string) bool {
	return slices.ContainsFunc(ps, func(p Partition) bool { return p.Matches(pk) })
}

// mayRead reports whether pk may be read.
func (a *Access) mayRead(pk string) bool {
	return matchesAny(a.Writes, pk) || matchesAny(a.Reads, pk) || matchesAny(a.Appends, pk)
}

// mayWrite reports whether a write is permitted. Transactions permit more.
func (a *Access) mayWrite(w *Write, transaction bool) bool {
	pk := w.Item.PK
	switch {
	case w.Verb == CheckVerb:
		return a.mayRead(pk)
	case matchesAny(a.Writes, pk):
		return true
	}
	return transaction && w.Verb == PutVerb && len(w.If) > 0 && matchesAny(a.Appends, pk)
}

// function is a function that makes store calls.
type function struct {
	name   string
	access Access
}

type functionKey struct{}

// As returns a context for store calls of the function with the given name. A Confined store restricts them to its
// access. Use it in a process that runs many functions; a process with a single function passes its access to Confined.
// The attachment of ctx belongs to the caller, and is not stored with changes of this function.
func As(ctx context.Context, name string, access Access) context.Context {
	return context.WithValue(WithoutAttachment(ctx), functionKey{}, &function{name, access})
}

// functionOf returns the function that ctx names, or else f.
func functionOf(ctx context.Context, f *function) *function {
	named, _ := ctx.Value(functionKey{}).(*function)
	return cmp.Or(named, f)
}
