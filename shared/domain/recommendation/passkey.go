package recommendation

import (
	"fmt"

	"lamplighter.dev/shared/engine/table"
)

// PassKey returns where the worker that evaluates rules stores how far its pass is: the scheduled one, or with a job id
// the pass of a refresh.
func PassKey(org, jobID string) table.Key {
	if jobID == "" {
		return ruleKey(org, "PASS")
	}
	return ruleKey(org, "PASS#"+jobID)
}

// ShareKey returns where the worker stores how far a share of a divided pass is, by the job that evaluates it.
func ShareKey(org, jobID string, share int) table.Key {
	return ruleKey(org, fmt.Sprintf("PASS#%s#%02d", jobID, share))
}
