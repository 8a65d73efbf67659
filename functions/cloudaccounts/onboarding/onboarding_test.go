package onboarding_test

import (
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions/cloudaccounts/onboarding"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	externalID = "lamplighter-org_01-7f3a"
	principal  = "arn:aws:iam::111122223333:role/lamplighter-connector"
)

var organisation = onboarding.Organisation{
	ID: "org_01", ExternalID: externalID, Principal: principal,
	TemplateURL: "https://bucket.s3.amazonaws.com/role.template.json",
}

func stepsOf(t *testing.T) onboarding.Steps {
	t.Helper()
	return stepsFor(t, "aws")
}

func stepsFor(t *testing.T, provider string) onboarding.Steps {
	t.Helper()
	return apitest.Value(onboarding.StepsFor(provider, organisation))(t)
}

func TestTheStepsForAWSAreAsReviewed(t *testing.T) {
	s := stepsOf(t)
	for _, p := range s.Policies {
		checkGolden(t, "policy-"+p.Level+".json", string(p.Document))
	}
	checkGolden(t, "role.template.json", *s.Methods[0].Template)
	checkGolden(t, "commands.sh", strings.Join(s.Methods[0].Commands, "\n"))
	for _, p := range stepsFor(t, "kubernetes").Policies {
		checkGolden(t, "kubernetes-"+p.Level+".json", string(p.Document))
	}
	checkGolden(t, "kubernetes.json", *stepsFor(t, "kubernetes").Methods[0].Template)
	checkGolden(t, "kubernetes-metrics.json", stepsFor(t, "kubernetes").Metrics.Manifest)
	for _, provider := range []string{"azure", "gcp", "kubernetes"} {
		var all []string
		for _, m := range stepsFor(t, provider).Methods {
			all = append(append(all, "# "+m.AuthMethod), m.Commands...)
		}
		if whole := stepsFor(t, provider).Organisation; whole != nil {
			all = append(append(all, "# the whole organization, after one of these"), whole.Commands...)
		}
		checkGolden(t, provider+".sh", strings.Join(all, "\n"))
	}
	for _, provider := range []string{"aws", "azure", "gcp"} {
		checkGolden(t, provider+"-clusters.sh", strings.Join(stepsFor(t, provider).Clusters.Commands, "\n"))
		checkGolden(t, provider+"-billing.sh", strings.Join(stepsFor(t, provider).Billing.Commands, "\n"))
	}
	checkGolden(t, "quickcreate.txt", *s.Methods[0].QuickCreateURL)
	checkGolden(t, "organisation.sh", strings.Join(s.Organisation.Commands, "\n"))
}

func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	goldenAt(t, filepath.Join("testdata", name), got)
}

func goldenAt(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want := apitest.Value(os.ReadFile(path))(t)
	if got+"\n" != string(want) {
		t.Errorf("%s changed; look at it and run the test with -update:\n%s", path, got)
	}
}

func TestEachLevelHoldsTheOnesBefore(t *testing.T) {
	var before []string
	for _, p := range stepsOf(t).Policies {
		for _, a := range before {
			if !slices.Contains(p.Actions, a) {
				t.Errorf("level %s lacks %s", p.Level, a)
			}
		}
		before = p.Actions
	}
}

// reads are the actions named Get that read settings and measurements. Other actions of that name return contents and
// secrets.
var reads = []string{
	"cloudwatch:GetMetricData", "ecr:GetLifecyclePolicy", "ecr:GetRegistryScanningConfiguration",
	"lambda:GetFunctionConcurrency", "lightsail:GetInstances",
	"resource-explorer-2:GetView",
	"s3:GetBucketVersioning", "s3:GetLifecycleConfiguration", "sqs:GetQueueAttributes", "synthetics:GetCanary",
	"tag:GetResources",
	"s3:GetAccountPublicAccessBlock", "s3:GetBucketLogging", "s3:GetBucketPolicy", "s3:GetBucketPolicyStatus",
	"s3:GetBucketPublicAccessBlock",
}

func TestReadingOnlyChangesNothing(t *testing.T) {
	for _, a := range stepsOf(t).Policies[0].Actions {
		_, verb, _ := strings.Cut(a, ":")
		if !strings.HasPrefix(verb, "Describe") && !strings.HasPrefix(verb, "List") && !slices.Contains(reads, a) {
			t.Errorf("level read_only allows %s", a)
		}
	}
}

func TestTheTrustPolicyDemandsTheExternalID(t *testing.T) {
	command := stepsOf(t).Methods[0].Commands[0]
	raw := command[strings.Index(command, "'")+1 : strings.LastIndex(command, "'")]
	var trust struct {
		Statement []struct {
			Principal map[string]string
			Condition map[string]map[string]string
		}
	}
	if err := json.Unmarshal([]byte(raw), &trust); err != nil {
		t.Fatalf("the trust policy in %s: %v", command, err)
	}
	got := trust.Statement[0]
	if got.Condition["StringEquals"]["sts:ExternalId"] != externalID || got.Principal["AWS"] != principal {
		t.Errorf("trust policy %+v", got)
	}
}

func TestTheCommandsAreWholeForAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("SKIPPED: there is no sh to parse the commands with")
	}
	var methods []onboarding.Method
	for _, provider := range []string{"aws", "azure", "gcp", "kubernetes"} {
		s := stepsFor(t, provider)
		methods = append(methods, s.Methods...)
		if s.Organisation != nil {
			methods = append(methods, onboarding.Method{Commands: s.Organisation.Commands})
		}
		if s.Billing != nil {
			methods = append(methods, onboarding.Method{Commands: s.Billing.Commands})
		}
		if s.Clusters != nil {
			methods = append(methods, onboarding.Method{Commands: s.Clusters.Commands},
				onboarding.Method{Commands: s.Clusters.Metrics.Commands})
		}
		if s.Metrics != nil {
			methods = append(methods, onboarding.Method{Commands: s.Metrics.Commands})
		}
	}
	for _, m := range methods {
		for _, c := range m.Commands {
			if out, err := exec.CommandContext(t.Context(), sh, "-n", "-c", c).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s", c, err, out)
			}
		}
	}
}

func TestWhatCannotBeQuotedIsRefused(t *testing.T) {
	for _, bad := range []struct{ provider, id, principal string }{
		{"aws", "x'; rm -rf ~; '", principal},
		{"aws", "", principal},
		{"aws", externalID, `*`},
		{"aws", externalID, `arn:aws:iam::1:root"}`},
		{"acme", externalID, principal},
	} {
		_, err := onboarding.StepsFor(bad.provider,
			onboarding.Organisation{ID: "org_1", ExternalID: bad.id, Principal: bad.principal})
		if want := fault.Invalid; fault.KindOf(err) != want &&
			(bad.provider != "acme" || !fault.Is(err, fault.NotFound)) {
			t.Errorf("For(%q, %q, %q): %v; want it refused as invalid", bad.provider, bad.id, bad.principal, err)
		}
	}
}

func TestAnAccountNumberIsAPrincipal(t *testing.T) {
	s, err := onboarding.StepsFor("aws",
		onboarding.Organisation{ID: "org_1", ExternalID: externalID, Principal: "111122223333"})
	if err != nil || !strings.Contains(*s.Methods[0].Template, `"Default": "arn:aws:iam::111122223333:root"`) ||
		s.Methods[0].QuickCreateURL != nil {
		t.Errorf("For an account number: %v\n%s", err, *s.Methods[0].Template)
	}
}

// A customer of Azure or Google trusts one subject of one issuer. Where the operator has not said who issues, the words
// stay in capitals.
func TestFederation_NamesIssuerAndSubject(t *testing.T) {
	o := organisation
	o.Issuer = "https://0a1b.tokens.sts.global.api.aws"
	o.Subject = "arn:aws:iam::111122223333:role/lamplighter-prod-clouds"
	for provider, want := range map[string][]string{
		"azure": {`"issuer":"` + o.Issuer + `"`, `"subject":"` + o.Subject + `"`},
		"gcp":   {"--issuer-uri=" + o.Issuer + " ", "/subject/" + o.Subject},
	} {
		named, err := onboarding.StepsFor(provider, o)
		if err != nil {
			t.Fatal(err)
		}
		commands := strings.Join(named.Methods[0].Commands, "\n")
		for _, w := range want {
			if !strings.Contains(commands, w) {
				t.Errorf("%s: the commands lack %s:\n%s", provider, w, commands)
			}
		}
		if strings.Contains(commands, "ISSUER") || strings.Contains(commands, "SUBJECT") {
			t.Errorf("%s: what is known is left to fill in:\n%s", provider, commands)
		}
	}
	for name, bad := range map[string]onboarding.Organisation{
		"an issuer that ends the quotes":   {Issuer: `https://x.example'; rm -rf ~; '`},
		"an issuer without TLS":            {Issuer: "http://x.example"},
		"a subject that is nobody's":       {Subject: "lamplighter"},
		"a subject that goes on elsewhere": {Subject: "arn:aws:iam::111122223333:role/x --project=other"},
	} {
		bad.ID, bad.ExternalID, bad.Principal = o.ID, o.ExternalID, o.Principal
		if _, err := onboarding.StepsFor("gcp", bad); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v; want it refused as invalid", name, err)
		}
	}
}
