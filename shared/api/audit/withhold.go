package audit

import (
	"encoding/json"
	"maps"
	"slices"
)

// Withheld replaces, in rows for clients, information about other organizations.
const Withheld = "[withheld]"

// signIns are the operations whose answers list the organizations of the user. Old rows of them contain that list in
// the store, and it must stay there, because the hashes cover it.
var signIns = []string{"logIn", "refresh", "finishSignIn", "completeSAML"}

// elsewhere is the member of changes.after with the organizations of a user.
const elsewhere = "tenants"

// Shown returns the row as its organization may read it. Its hash stays that of the stored row.
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
	after, _ := decodeOrNil(side).(map[string]any)
	if _, tells := after[elsewhere]; tells {
		r.Changes.After = json.RawMessage(appendCanonical(nil, withhold(after)))
	}
	return r
}

// withhold returns a side without the organizations.
func withhold(after map[string]any) map[string]any {
	out := maps.Clone(after)
	out[elsewhere] = Withheld
	return out
}

// elsewhereOf returns the row's list of the organizations of a user. It returns nil if it is not a row of a log-in.
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

// isWithheld reports whether a part of the row is withheld.
func (s Sealed) isWithheld() bool { return s.elsewhereOf() == Withheld }
