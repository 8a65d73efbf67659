package resource

import (
	"errors"
	"slices"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// IsolateBadIDs calls do with all ids and returns the error of each id, in order. EC2 refuses a whole batch because of
// one bad id. The ids that its answer names get the error, and the others are tried again. If the answer names none,
// the batch is halved.
func IsolateBadIDs(ids []string, do func(ids []string) error) []error {
	errs := make([]error, len(ids))
	at := make([]int, len(ids))
	for i := range at {
		at[i] = i
	}
	try(ids, at, errs, do)
	return errs
}

// try calls do with the ids at the positions in at, then with the rest, until each has its result in errs.
func try(ids []string, at []int, errs []error, do func([]string) error) {
	for len(at) > 0 {
		err := do(PickAt(ids, at))
		if err == nil {
			return
		}
		bad := blamed(ids, at, err)
		if len(bad) == 0 && len(at) > 1 && blamesOne(err) {
			half := len(at) / 2
			try(ids, at[:half], errs, do)
			at = at[half:]
			continue
		}
		if len(bad) == 0 {
			bad = at
		}
		for _, i := range bad {
			errs[i] = err
		}
		at = slices.DeleteFunc(slices.Clone(at), func(i int) bool { return slices.Contains(bad, i) })
	}
}

// PickAt returns the elements at the positions in at.
func PickAt[T any](all []T, at []int) []T {
	out := make([]T, len(at))
	for i, p := range at {
		out[i] = all[p]
	}
	return out
}

// blamed returns the positions of the ids that the error names.
func blamed(ids []string, at []int, err error) []int {
	e, ok := errors.AsType[*cloud.Error](ClassifyError(err))
	if !ok || (e.Class.Retryable() && !blamesOne(err)) {
		return nil
	}
	words := strings.FieldsFunc(e.Message, func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z')
	})
	return slices.DeleteFunc(slices.Clone(at), func(i int) bool { return !slices.Contains(words, ids[i]) })
}

// blamesOne reports whether the error may concern a single id: its absence, its state, an unsupported property, or a
// lack of capacity for its type. A denial without a name concerns all ids.
func blamesOne(err error) bool {
	if strings.HasPrefix(CodeOf(err), "Insufficient") {
		return true
	}
	switch cloud.ClassOf(ClassifyError(err)) {
	case cloud.NotFound, cloud.Moving, cloud.Unsupported, cloud.Invalid:
		return true
	default:
		return false
	}
}
