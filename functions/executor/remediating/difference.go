package remediating

import (
	"fmt"
	"maps"
	"slices"

	"lamplighter.dev/shared/domain/remediation"
)

// difference says in words how two plans of one target differ.
func difference(approved, now *remediation.Target) string {
	names := map[string]bool{}
	for name := range approved.Plan.Before {
		names[name] = true
	}
	for name := range now.Plan.Before {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if was, is := approved.Plan.Before[name], now.Plan.Before[name]; was != is {
			return fmt.Sprintf("%s was %q and is %q", name, was, is)
		}
	}
	return "what would be done is another thing now; request it again"
}
