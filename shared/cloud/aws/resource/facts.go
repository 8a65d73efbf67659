package resource

import (
	"errors"
	"slices"

	sdk "github.com/aws/aws-sdk-go-v2/aws"

	"lamplighter.dev/shared/cloud"
)

// IsEverybody reports whether a principal includes everybody: "*" or {"AWS": "*"}.
func IsEverybody(principal any) bool {
	if m, ok := principal.(map[string]any); ok {
		return IsEverybody(m["AWS"])
	}
	return principal == "*" || IsEverybodyIn(principal, "*")
}

// IsEverybodyIn reports whether list is a list that contains the word.
func IsEverybodyIn(list any, word string) bool {
	all, _ := list.([]any)
	return slices.Contains(all, any(word))
}

// FactAttempts is the number of attempts for a fact that few emulators support. Its absence must not delay a listing.
const FactAttempts = 2

// NoteMissing notes that the named facts could not be read, with the missing permission and AWS's error code.
func NoteMissing(f cloud.Facts, err error, need string, names ...string) {
	code := CodeOf(err)
	if e, ok := errors.AsType[*cloud.Error](ClassifyError(err)); ok && code == "" {
		code = e.Code
	}
	f.Miss(need+": "+code, names...)
}

// SortTexts returns a list of texts as a fact: sorted, and empty instead of nil, because AWS keeps no order.
func SortTexts(all []string) []string {
	out := append([]string{}, all...)
	slices.Sort(out)
	return out
}

// Count32 returns a number as a fact; 0 for nil.
func Count32(n *int32) float64 { return float64(sdk.ToInt32(n)) }

// NoteAllMissing notes for all resources that the facts could not be read.
func NoteAllMissing(found []cloud.Resource, err error, need string, names ...string) {
	for i := range found {
		NoteMissing(found[i].Facts, err, need, names...)
	}
}

// PerFilter is the maximum number of values of a filter of EC2.
const PerFilter = 200
