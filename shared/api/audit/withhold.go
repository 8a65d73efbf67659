package audit

import (
	"encoding/json"
	"maps"
	"slices"
)

// Withheld stands, in rows as they are shown, for what is no business of the organization that the row belongs to.
const Withheld = "[withheld]"

// signIns are the operations whose answer lists the organizations of the user. Rows of them that are older than the rule
// that a row tells nothing of other organizations keep that list in the store, because the hashes are taken of it.
var signIns = []string{"logIn", "refresh", "finishSignIn", "completeSAML"}

// elsewhere is the member of changes.after that held the organizations of a user.
const elsewhere = "tenants"

// Shown returns the row as its organization may read it. Its hash stays that of the row as it was written.
func (s Sealed) Shown() Sealed {
	if !s.tellsElsewhere() {
		return s
	}
	changes := maps.Clone(s["changes"].(map[string]any))
	changes["after"] = withhold(changes["after"].(map[string]any))
	out := maps.Clone(s)
	out["changes"] = changes
	return out
}

// Shown returns the row as its organization may read it.
func (r Row) Shown() Row {
	side, ok := r.Changes.After.(json.RawMessage)
	if !ok || !slices.Contains(signIns, r.Action) {
		return r
	}
	after, _ := tree(side).(map[string]any)
	if _, tells := after[elsewhere]; tells {
		r.Changes.After = json.RawMessage(appendCanonical(nil, withhold(after)))
	}
	return r
}

// withhold returns a side without the organizations in it.
func withhold(after map[string]any) map[string]any {
	out := maps.Clone(after)
	out[elsewhere] = Withheld
	return out
}

// elsewhereOf returns what the row holds where the organizations of a user were listed; nil when it is no row of a sign-in.
func (s Sealed) elsewhereOf() any {
	if !slices.Contains(signIns, s.stringMember("action")) {
		return nil
	}
	changes, _ := s["changes"].(map[string]any)
	after, _ := changes["after"].(map[string]any)
	return after[elsewhere]
}

// tellsElsewhere reports whether the row lists the organizations of a user.
func (s Sealed) tellsElsewhere() bool {
	held := s.elsewhereOf()
	return held != nil && held != Withheld
}

// withheld reports whether something was left out of the row when it was shown.
func (s Sealed) withheld() bool { return s.elsewhereOf() == Withheld }
