package onboarding_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/aws"
	"lamplighter.dev/shared/cloud/azure"
	"lamplighter.dev/shared/cloud/gcp"
	"lamplighter.dev/shared/cloud/kubernetes"
	"lamplighter.dev/shared/testkit/packedfiletest"
)

// needs are the lists beside the kinds, as permissions.json has them.
type needs struct {
	Discover     []string `json:"discover"`
	StartStop    []string `json:"startStop"`
	Scale        []string `json:"scale"`
	Remediate    []string `json:"remediate"`
	Organisation []string `json:"organisation,omitempty"`
	Services     []string `json:"services,omitempty"`
	Billing      []string `json:"billing,omitempty"`
	BillingData  []string `json:"billingData,omitempty"`
	Metrics      []string `json:"metrics,omitempty"`
}

func neededPermissions() map[string]needs {
	a, m, g, k := aws.ListRequiredActions(), azure.ListRequiredActions(), gcp.ListRequiredPermissions(),
		kubernetes.ListRequiredActions()
	return map[string]needs{
		"aws":   {a.Discover, a.StartStop, a.Scale, a.Remediate, a.Organisation, nil, a.Billing, nil, nil},
		"azure": {m.Discover, m.StartStop, m.Scale, m.Remediate, m.Organisation, nil, m.Billing, m.BillingData, nil},
		"gcp": {
			g.Discover, g.StartStop, g.Scale, g.Remediate, g.Organisation, gcp.ListRequiredServices(), g.Billing,
			nil, nil,
		},
		"kubernetes": {k.Discover, k.StartStop, k.Scale, k.Remediate, nil, nil, nil, nil, k.Metrics},
	}
}

// The documented permissions equal those that the kinds declare. For AWS, the contract over its twin checks the
// declared permissions against the calls that reach the cloud.
func TestPermissions_AreThoseBesideTheKinds(t *testing.T) {
	b, err := json.MarshalIndent(neededPermissions(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	goldenAt(t, "permissions.json", string(b))
	packedfiletest.Check(t, "permissions.json", *update)
}

// The audience that customers are told to allow is the one that our tokens bear.
func TestSteps_NameTheAudienceOfOurTokens(t *testing.T) {
	if got := *stepsFor(t, "azure").Audience; got != azure.Audience(organisation.ID) {
		t.Errorf("azure: %s, and tokens are for %s", got, azure.Audience(organisation.ID))
	}
	if got := *stepsFor(t, "gcp").Audience; got != gcp.Audience(organisation.ID) {
		t.Errorf("gcp: %s, and tokens are for %s", got, gcp.Audience(organisation.ID))
	}
}

// The level remediate consists of the level before it and the permissions of the catalogue of changes.
func TestPermissions_RemediateIsWhatTheChangesNeed(t *testing.T) {
	for provider, n := range neededPermissions() {
		for _, c := range cloud.ChangesOf(provider) {
			for _, need := range c.Needs {
				if !slices.Contains(n.Remediate, need) {
					t.Errorf("level remediate of %s lacks %s of %s %s", provider, need, c.Verb, c.Type)
				}
			}
		}
		changes := cloud.ChangeNeeds(provider)
		for _, action := range n.Remediate {
			if !slices.Contains(n.Scale, action) && !slices.Contains(changes, action) {
				t.Errorf("level remediate of %s allows %s, which no change needs", provider, action)
			}
		}
	}
}

// AWS refuses longer documents: inline policies of a role, without white space, and the body of a template.
func TestSteps_FitTheLimitsOfAWS(t *testing.T) {
	const mostPolicy, mostTemplate = 10_240, 51_200
	s := stepsOf(t)
	for _, p := range s.Policies {
		var short bytes.Buffer
		if err := json.Compact(&short, p.Document); err != nil || short.Len() > mostPolicy {
			t.Errorf("the policy %s has %d characters, %v; at most %d", p.Level, short.Len(), err, mostPolicy)
		}
	}
	if n := len(*s.Methods[0].Template); n > mostTemplate {
		t.Errorf("the template has %d bytes, at most %d", n, mostTemplate)
	}
}

// besides are the allowed permissions that no call needs: AWS uses them in the customer's name.
var besides = []string{"kms:CreateGrant", "iam:CreateServiceLinkedRole"}

// organisationAllows checks that the document for an entire organization allows listing it, and, if members have no
// roles of their own, the calls in the members.
func organisationAllows(t *testing.T, provider string, all onboarding.WholeOrganisation, n needs) {
	t.Helper()
	members := slices.Concat(n.Organisation, n.StartStop)
	if all.MemberRole != "" {
		members = n.Organisation
	}
	in := allTexts(t, all.Document)
	if lacks := slices.DeleteFunc(slices.Clone(members), func(a string) bool {
		return slices.Contains(in, a)
	}); len(n.Organisation) == 0 || len(lacks) > 0 || !slices.Equal(all.Actions, n.Organisation) {
		t.Errorf("the organization of %s is allowed %v, and its document lacks %v", provider, all.Actions, lacks)
	}
}

// billingAllows checks that the document for bills allows reading them. For the contents of a storage account,
// Azure's own role is used.
func billingAllows(t *testing.T, provider string, b onboarding.BillAccess, n needs) {
	t.Helper()
	in := allTexts(t, b.Document)
	for _, action := range n.Billing {
		if !slices.Contains(in, action) {
			t.Errorf("the document for bills of %s does not name %s", provider, action)
		}
	}
	if len(n.Billing) == 0 || !slices.Equal(b.Actions, slices.Concat(n.Billing, n.BillingData)) {
		t.Errorf("bills of %s are allowed %v; needed are %v, %v", provider, b.Actions, n.Billing, n.BillingData)
	}
	if len(n.BillingData) > 0 && !strings.Contains(strings.Join(b.Commands, "\n"), "'Storage Blob Data Reader'") {
		t.Errorf("no command of %s gives the role of %v", provider, n.BillingData)
	}
}

// Objects are read in the bucket of the bills and nowhere else.
func TestSteps_LetNoOtherObjectsBeRead(t *testing.T) {
	var doc struct {
		Statement []struct {
			Action   []string
			Resource string
		}
	}
	if err := json.Unmarshal(stepsFor(t, "aws").Billing.Document, &doc); err != nil {
		t.Fatal(err)
	}
	for _, s := range doc.Statement {
		for _, a := range s.Action {
			if strings.HasPrefix(a, "s3:") != strings.HasPrefix(s.Resource, "arn:aws:s3:::BUCKET") {
				t.Errorf("%s is allowed for %s", a, s.Resource)
			}
		}
	}
}

func TestSteps_AllowExactlyWhatIsNeeded(t *testing.T) {
	for provider, n := range neededPermissions() {
		if bills := stepsFor(t, provider).Billing; bills != nil || provider != "kubernetes" {
			billingAllows(t, provider, *bills, n)
		}
		if all := stepsFor(t, provider).Organisation; all != nil {
			organisationAllows(t, provider, *all, n)
		}
		for i, want := range [][]string{n.Discover, n.StartStop, n.Scale, n.Remediate} {
			p := stepsFor(t, provider).Policies[i]
			got := slices.DeleteFunc(slices.Clone(p.Actions), func(a string) bool {
				return slices.Contains(besides, a)
			})
			if len(want) == 0 || !slices.Equal(got, want) {
				t.Errorf("policy %s of %s allows %v; needed are %v", p.Level, provider, got, want)
			}
			for _, action := range want {
				if !slices.Contains(namedActions(t, provider, p.Document), action) {
					t.Errorf("the document of %s of %s does not name %s", p.Level, provider, action)
				}
			}
		}
	}
}

// namedActions are the permissions that a document names: those of Kubernetes are put together from its rules.
func namedActions(t *testing.T, provider string, doc json.RawMessage) []string {
	t.Helper()
	if provider != "kubernetes" {
		return allTexts(t, doc)
	}
	var role struct{ Rules []onboarding.ClusterRule }
	if err := json.Unmarshal(doc, &role); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, r := range role.Rules {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				out = append(out, strings.TrimSuffix(verb+" "+resource+"."+r.APIGroups[0], "."))
			}
		}
	}
	return out
}

// allTexts are all texts in a document.
func allTexts(t *testing.T, doc json.RawMessage) []string {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	var walk func(v any) []string
	walk = func(v any) (out []string) {
		switch v := v.(type) {
		case string:
			return []string{v}
		case []any:
			for _, e := range v {
				out = append(out, walk(e)...)
			}
		case map[string]any:
			for _, e := range v {
				out = append(out, walk(e)...)
			}
		}
		return out
	}
	return walk(v)
}
