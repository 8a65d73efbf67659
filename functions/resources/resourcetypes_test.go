package resources

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lamplighter.dev/shared/testkit/apitest"
)

// promised is the table of identifiers in section 7 of the design of executors, one type a line, with four columns:
// discovered, started and stopped, scaled, measured. ● means promised, ○ means later, and - means not applicable.
// Prices belong to another feature.
const promised = `
aws-ec2                   ● ● - ●
aws-rds                   ● ● ○ ●
aws-asg                   ● ● ● ●
azure-vm                  ● ● - ●
gcp-compute               ● ● - ●
kubernetes-namespace      ● ● - ○
kubernetes-deployment     ● ● ● ○
kubernetes-statefulset    ● ● ● ○
azure-vmss                ● ● ● ●
gcp-mig                   ● ● ● ●
aws-aurora                ● ● ○ ●
aws-ecs                   ● ● ● ●
aws-eks-nodegroup         ● ● ● ●
azure-aks                 ● ● - ●
azure-aks-nodepool        ● ○ ● ○
gcp-cloudsql              ● ● ○ ●
gcp-gke-nodepool          ● ● ● ●
azure-postgresql-flexible ● ● ○ ●
azure-mysql-flexible      ● ● ○ ●
azure-containerapp        ● ● ● ●
aws-redshift              ● ● - ●
aws-docdb                 ● ● - ●
aws-neptune               ● ● - ●
aws-sagemaker-notebook    ● ● - ○
azure-appservice          ● ● ○ ●
azure-appserviceplan      ● ○ ● ●
azure-synapse-sqlpool     ● ● ○ ●
azure-sql-mi              ● ● ○ ●
azure-sql-database        ● ○ ○ ●
kubernetes-cronjob        ● ● - -
gcp-cloudrun              ● ○ ● ●
azure-aci                 ● ○ - ○
azure-adx                 ● ○ - ○
azure-appgateway          ● ○ - ○
azure-fabric-capacity     ● ○ - ○
azure-analysis-services   ● ○ - ○
gcp-workstation           ○ ○ - ○
gcp-notebook              ○ ○ - ○
gcp-dataproc              ○ ○ - ○
gcp-alloydb               ○ ○ - ○
aws-lambda                ● ○ - ●
aws-elasticache           ● - - ●
aws-opensearch            ● - - ●
aws-ebs                   ● - - ●
aws-eip                   ● - - ○
aws-elb                   ● - - ●
aws-nat                   ● - - ●
aws-s3                    ● - - ●
azure-disk                ● - - ○
azure-publicip            ● - - ○
azure-loadbalancer        ● - - ○
gcp-disk                  ● - - ○
gcp-address               ● - - ○
gcp-memorystore           ● - - ○
`

// notYet are promises that are not kept, and why.
var notYet = map[string]string{
	"aws-eks-nodegroup measured": "the rules ask for what pods request, which the cluster knows, and CloudWatch only " +
		"with an add-on",
}

// beyondPromise are abilities that the design does not ask for, and why they exist.
var beyondPromise = map[string]string{
	"kubernetes-cronjob measured": "two rules ask how often its Jobs fail and how long they take",
}

func TestTypes_SayWhatTheDesignPromises(t *testing.T) {
	a := newFixture(t)
	told := map[string]Type{}
	for _, k := range apitest.Data[[]Type](a.getPath("/resources/types")) {
		told[k.Type] = k
	}
	for line := range strings.Lines(strings.TrimSpace(promised)) {
		f := strings.Fields(line)
		k, is := told[f[0]]
		if !is {
			t.Errorf("%s is not among the types", f[0])
			continue
		}
		for i, can := range []struct {
			what string
			does bool
		}{
			{"discoverable", k.Discoverable},
			{"actionable", k.Actionable},
			{"scalable", k.Scalable},
			{"measured", k.Measured},
		} {
			promise, reason := f[i+1], notYet[f[0]+" "+can.what]
			if promise == "●" && can.does == (reason != "") {
				t.Errorf("%s is %s: %v; the design promises it, and the reason against it is %q", f[0], can.what,
					can.does, reason)
			}
			if promise == "-" && can.does && beyondPromise[f[0]+" "+can.what] == "" {
				t.Errorf("%s is %s, which makes no sense", f[0], can.what)
			}
		}
	}
}

// The table above is the project's own copy. Beside a checkout with the design it is held against that.
func TestTypes_AreThoseOfTheDesign(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("..", "..", "..", "shared", "design", "executors.md"))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: there is no design beside the checkout to hold the types against")
	}
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "## 7. Identifier table")
	section, _, _ = strings.Cut(section, "## 8.")
	named := map[string]bool{}
	for line := range strings.Lines(section) {
		if cells := strings.Split(line, "|"); len(cells) > 4 {
			for word := range strings.FieldsFuncSeq(cells[3], func(r rune) bool {
				return r == ' ' || r == ',' || r == '/'
			}) {
				named[word] = strings.Contains(word, "-") && !strings.HasPrefix(word, "--")
			}
		}
	}
	ours := map[string]bool{}
	for line := range strings.Lines(strings.TrimSpace(promised)) {
		ours[strings.Fields(line)[0]] = true
	}
	for kind, is := range named {
		if is && !ours[kind] {
			t.Errorf("the design names %s, and the table here does not", kind)
		}
	}
	for kind := range ours {
		if !named[kind] {
			t.Errorf("the design does not name %s", kind)
		}
	}
}
