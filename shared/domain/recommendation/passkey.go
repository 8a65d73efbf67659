package recommendation

import "lamplighter.dev/shared/engine/table"

// PassKey returns where the worker that evaluates rules stores how far its pass is: the scheduled one, or with a job id
// the pass of a refresh.
func PassKey(org, jobID string) table.Key {
	if jobID == "" {
		return ruleKey(org, "PASS")
	}
	return ruleKey(org, "PASS#"+jobID)
}
