package functions_test

import (
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"lamplighter.dev/functions"
	"lamplighter.dev/shared/api/platform"
)

// naming are the names of members of request bodies that name a record by its id.
var naming = regexp.MustCompile(
	`(?i)(id|ids|uid|uids)$|_id$|^(email|scope|role|defaultRole|defaultDashboard|members|resources)$`)

const (
	acts      = "the operation acts at once, and what it leaves is history"
	asks      = "the operation stores nothing"
	cloudOnly = "it is an id in the customer's cloud"
	mailbox   = "it is the address of a mailbox, which no record has"
	ownPart   = "it is the id of a part of the record itself"
	scopeKind = "it is the kind of what scopeID names"
	goneScope = "an override for an account or a group that is gone stays, and holds for nothing"
)

// namesNothing are the members that look as if they named a record of the organization and do not, with the reason.
var namesNothing = map[string]string{
	"submitAction cloudAccountID": acts, "submitAction resourceUID": acts, "submitBulkAction cloud_account_id": acts,
	"submitBulkAction group_id": acts, "submitBulkAction team_id": acts, "submitBulkAction resourceIDs": acts,
	"submitBulkAction groupID": "a group is kept while a bulk action is under way on it " +
		"(TestDeleting_AGroupOnWhichABulkActionRuns)",
	"createBillingImport cloudAccountID":      acts,
	"shareRecommendation channelIDs":          acts,
	"proposeRemediation recommendationIDs":    "recommendations are not deleted, and a workflow is their history",
	"acceptSmartTags policyID":                "a tag is accepted only while a policy derives it",
	"acceptSmartTags resourceUID":             "as above",
	"revokeSmartTags policyID":                acts,
	"revokeSmartTags resourceUID":             acts,
	"previewEventCost policyId":               asks,
	"previewReadiness policyId":               asks,
	"previewNewSchedule calendarIDs":          asks,
	"previewNewSchedule groupIDs":             asks,
	"previewNewSchedule resourceIDs":          asks,
	"getResourcesByUIDs uids":                 asks,
	"createRecommendationRule id":             ownPart,
	"planRecommendationRules id":              ownPart,
	"planRecommendationRules scope":           scopeKind,
	"updateRecommendationRule scope":          scopeKind,
	"planRecommendationRules scopeID":         goneScope,
	"updateRecommendationRule scopeID":        goneScope,
	"previewNewSchedule id":                   ownPart,
	"createSchedule id":                       ownPart,
	"updateSchedule id":                       ownPart,
	"reportEventPlanStatus id":                ownPart,
	"connectCloudAccount cloudAccountID":      cloudOnly,
	"updateCloudAccount cloudAccountID":       cloudOnly,
	"connectCloudOrganisation ids":            cloudOnly,
	"updateCloudOrganisation ids":             cloudOnly,
	"finalizeGoogleConnection projectID":      cloudOnly,
	"createChannel email":                     mailbox,
	"updateChannel email":                     mailbox,
	"inviteUser email":                        mailbox,
	"connectCloudOrganisation organisationID": cloudOnly,
	"syncCloudOrganisation confirmationID": "it is a digest of the members that wait, which confirms what the " +
		"caller has seen",
	"finalizeGoogleConnection connectionID": "it is a secret of one session, which ends with its use",
}

// partDeletions are the operations of the method DELETE that take a part from a record, with the reason why that part
// is not a kind of record.
var partDeletions = map[string]string{
	"deleteRecommendationRule": "an own rule, which recommendations name as history, or overrides",
	"removeGroupResource":      "a member of a resource group", "removeTeamMember": "a member of a team",
	"removeTeamResource": "a resource of a team",
	"detachFromSchedule": "an attachment of a schedule", "deregisterCluster": "a registration of a cloud account",
	"leaveOrganisation":     "removeUser for the caller",
	"removeTOTP":            "a second factor of the caller",
	"removePasskey":         "a second factor of the caller",
	"endSession":            "a session of the caller, which no other record names",
	"deleteAccount":         "the caller's account; functions/eraser erases everything that it leads to",
	"withdrawBillingImport": "the months of an upload, whose record stays",
}

// TestReferences_EachFieldThatNamesARecordIsDeclared looks for members of request bodies that name records and stand
// in no reference of their function. Operations without a policy are about the caller alone.
func TestReferences_EachFieldThatNamesARecordIsDeclared(t *testing.T) {
	bodies, used := requestBodies(t), map[string]bool{}
	for _, f := range functions.All() {
		declared := map[string]bool{}
		for _, r := range f.Names {
			for _, field := range r.Fields {
				declared[field] = false
			}
		}
		for _, g := range f.Operations(&platform.Platform{}) {
			for _, op := range g.Ops() {
				for _, field := range bodyFields(bodies[op.ID], 0) {
					_, known := declared[field]
					if known {
						declared[field] = true
					}
					if !naming.MatchString(field) {
						continue
					}
					why := namesNothing[op.ID+" "+field]
					used[op.ID+" "+field] = true
					if !known && why == "" && op.Policy != "" {
						t.Errorf("%s sends %q: declare in Names of functions/%s/declaration.go what it names, or say "+
							"in namesNothing why it names nothing",
							op.ID, field, f.Name)
					}
				}
			}
		}
		for field, sent := range declared {
			if !sent {
				t.Errorf("functions/%s declares the field %q, which no request body of it has", f.Name, field)
			}
		}
	}
	for name := range namesNothing {
		if !used[name] {
			t.Errorf("namesNothing has %q, which no request body has", name)
		}
	}
}

// TestReferences_AreBetweenDeclaredKinds also finds deletions without a declared kind.
func TestReferences_AreBetweenDeclaredKinds(t *testing.T) {
	owners, deletions := map[string]string{}, map[string]bool{}
	for _, f := range functions.All() {
		for _, k := range f.Kinds {
			if owners[k.Name] != "" {
				t.Errorf("the kind %q is declared by %s and by %s", k.Name, owners[k.Name], f.Name)
			}
			owners[k.Name], deletions[k.Delete] = f.Name, true
		}
	}
	outcomes := []platform.Outcome{platform.Refused, platform.Ended, platform.Detached, platform.Kept}
	for _, f := range functions.All() {
		for _, r := range f.Names {
			if owners[r.From] != f.Name || owners[r.To] == "" {
				t.Errorf("functions/%s declares %q names %q: the first must be a kind of it, the second a kind of "+
					"any function", f.Name, r.From, r.To)
			}
			if !slices.Contains(outcomes, r.OnDelete) || r.OnDetach != "" && !slices.Contains(outcomes, r.OnDetach) {
				t.Errorf("%q names %q: %q, %q is no outcome", r.From, r.To, r.OnDelete, r.OnDetach)
			}
		}
		for _, g := range f.Operations(&platform.Platform{}) {
			for _, op := range g.Ops() {
				if op.Method == http.MethodDelete && !deletions[op.ID] && partDeletions[op.ID] == "" {
					t.Errorf("%s deletes no declared kind: add one to Kinds of functions/%s/declaration.go, or say "+
						"in partDeletions what it takes away", op.ID, f.Name)
				}
			}
		}
	}
}

// requestBodies returns the schemas of the JSON bodies of all operations, by the ids of these.
func requestBodies(t *testing.T) map[string]*openapi3.Schema {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(functions.Describe(&platform.Platform{}).YAML())
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*openapi3.Schema{}
	for _, path := range doc.Paths.InMatchingOrder() {
		for _, op := range doc.Paths.Value(path).Operations() {
			if op.RequestBody == nil {
				continue
			}
			if m := op.RequestBody.Value.Content.Get("application/json"); m != nil {
				out[op.OperationID] = m.Schema.Value
			}
		}
	}
	return out
}

// bodyFields returns the names of the members of s, at any depth, each once.
func bodyFields(s *openapi3.Schema, depth int) []string {
	const deepest = 8
	if s == nil || depth > deepest {
		return nil
	}
	var out []string
	for name, ref := range s.Properties {
		out = append(out, name)
		out = append(out, bodyFields(ref.Value, depth+1)...)
	}
	if s.Items != nil {
		out = append(out, bodyFields(s.Items.Value, depth+1)...)
	}
	for _, either := range s.AnyOf {
		out = append(out, bodyFields(either.Value, depth+1)...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
