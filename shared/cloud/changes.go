package cloud

import (
	"slices"
	"time"
)

// KindChange describes one change of one kind. The catalogue has no code of a provider, so API functions may use it.
type KindChange struct {
	Type string
	Verb ChangeVerb
	// Sets lists the values that the verb sets. It is empty for the verbs Release and Delete.
	Sets []string
	// Takes lists the values of Sets that are lists from which rules take words: they want Taken before the words.
	Takes []string
	// Adds lists the values of Sets that are lists of texts, to which a rule may add.
	Adds []string
	// Copies reports that the verb Delete can take a snapshot first.
	Copies bool
	// Kept names what keeps the data of a deleted resource if no snapshot does. The step StepCopy checks it.
	Kept string
	// Holds lists the preconditions of rules (needs=…) that the plan of the change checks on a fresh read.
	Holds []string
	Call  string // the provider's name of the call
	Undo  string // in words
	// Limits are the effects that the undo of a removal does not give back.
	Limits []string
	// Needs lists the permissions of the change, reads included.
	Needs []string
}

// The waiting periods between the mark of a resource and its deletion.
const (
	DeleteWait           = 7 * 24 * time.Hour
	DeleteWaitProduction = 14 * 24 * time.Hour
	DeleteWaitSnapshot   = 30 * 24 * time.Hour
)

// changes returns the catalogue of changes. It is a function, and its parts are, so that binaries that do not use it do
// not contain it.
func changes() []KindChange {
	return slices.Concat(awsChanges(), awsSettings(), awsRemovals(), azureChanges(), gcpChanges(), kubernetesChanges())
}

// ChangeOf returns the change of a kind with a verb; false when there is none.
func ChangeOf(kind string, verb ChangeVerb) (KindChange, bool) {
	all := changes()
	i := slices.IndexFunc(all, func(c KindChange) bool { return c.Type == kind && c.Verb == verb })
	if i < 0 {
		return KindChange{}, false
	}
	return all[i], true
}

// ChangesOf lists the changes of a provider's kinds.
func ChangesOf(provider string) []KindChange {
	var out []KindChange
	for _, c := range changes() {
		if k, known := KindOf(c.Type); known && k.Provider == provider {
			out = append(out, c)
		}
	}
	return out
}

// ChangeNeeds returns the permissions of all changes of a provider's kinds, sorted and each once. They are what the
// onboarding level remediate adds.
func ChangeNeeds(provider string) []string {
	out := []string{}
	for _, c := range ChangesOf(provider) {
		out = append(out, c.Needs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// IsChangeable reports whether remediation changes resources of a type.
func IsChangeable(kind string) bool {
	return slices.ContainsFunc(changes(), func(c KindChange) bool { return c.Type == kind })
}

// CopyKept is how long the snapshot that a deletion took is kept.
const CopyKept = 30 * 24 * time.Hour

// SnapshotKindOf returns the type of the snapshots that deletions of a type take, or "".
func SnapshotKindOf(kind string) string {
	return map[string]string{
		"aws-ebs": "aws-ebs-snapshot", "azure-disk": "azure-snapshot", "gcp-disk": "gcp-snapshot",
	}[kind]
}

// IsSnapshot reports whether resources of a type are snapshots: they wait longer for their deletion, and nothing
// restores them.
func IsSnapshot(kind string) bool {
	return slices.Contains([]string{"aws-ebs-snapshot", "aws-rds-snapshot", "azure-snapshot", "gcp-snapshot"}, kind)
}

// HasUndo reports whether something gives the change back after it was made.
func (c KindChange) HasUndo() bool { return c.Undo != noUndo }

// The words about changes that nothing gives back.
const (
	noUndo      = "none after the deletion: it does not come back; before it, the mark is removed"
	lostForGood = "its data is lost for good"
)
