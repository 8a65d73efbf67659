package remediation

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/domain/rule"
)

func TestNewPatch_IsInTheFormOfItsTool(t *testing.T) {
	gp3 := PatchSubject{
		Type: "aws-ebs", UID: "vol-1", Verb: "change-storage",
		After: map[string]string{"volume_type": "gp3", "iops": "3000"},
	}
	for name, c := range map[string]struct {
		tags   map[string]string
		of     PatchSubject
		format string
		text   string
	}{
		"CloudFormation": {
			map[string]string{"aws:cloudformation:stack-name": "shop", "aws:cloudformation:logical-id": "Data"},
			gp3, "json",
			"{\n  \"Resources\": {\n    \"Data\": {\n      \"Properties\": {\n        \"Iops\": 3000,\n" +
				"        \"VolumeType\": \"gp3\"\n      },\n      \"Type\": \"AWS::EC2::Volume\"\n    }\n  }\n}",
		},
		"Terraform": {
			map[string]string{"Terraform": "true"},
			gp3, "hcl",
			"resource \"aws_ebs_volume\" \"NAME\" { # vol-1\n  iops = 3000\n  type = \"gp3\"\n}\n",
		},
		"a block in a block, and other words": {
			map[string]string{"goog-terraform-provisioned": "true"},
			PatchSubject{Type: "gcp-cloudsql", UID: "q", Verb: "resize", After: map[string]string{"ha": "false"}},
			"hcl",
			"resource \"google_sql_database_instance\" \"NAME\" { # q\n  settings {\n" +
				"    availability_type = \"ZONAL\"\n  }\n}\n",
		},
		"another unit": {
			map[string]string{"goog-terraform-provisioned": "true"},
			PatchSubject{
				Type: "gcp-gcs", UID: "b", Verb: "set-lifecycle", After: map[string]string{"soft_delete_days": "7"},
			},
			"hcl", "resource \"google_storage_bucket\" \"NAME\" { # b\n  soft_delete_policy {\n" +
				"    retention_duration_seconds = 604800\n  }\n}\n",
		},
		"a merge patch": {
			map[string]string{"argocd.argoproj.io/instance": "shop"},
			PatchSubject{
				Type: "kubernetes-deployment", UID: "c/shop/deployments/web", Verb: rule.VerbScale,
				After: map[string]string{"min": "1", "desired": "2"},
			},
			"yaml", "# kubernetes-deployment c/shop/deployments/web\nspec:\n  minReplicas: 1\n  replicas: 2\n",
		},
		"a removal": {
			map[string]string{"terraform": "true"},
			PatchSubject{Type: "aws-eip", UID: "eipalloc-1", Verb: "release"},
			"text",
			"In terraform, remove the block aws_eip (eipalloc-1). Take a snapshot first if its data is needed.",
		},
		"a tool without a form": {
			map[string]string{"managed-by": "Pulumi", "pulumi:stack": "prod"},
			gp3, "text",
			"In pulumi (prod), set for aws-ebs vol-1: iops to 3000, volume_type to gp3.",
		},
		"a type without a name there": {
			map[string]string{"aws:cloudformation:stack-name": "shop"},
			PatchSubject{Type: "aws-x", UID: "x", Verb: "guard", After: map[string]string{"tls": "true"}},
			"text",
			"In cloudformation (shop), set for aws-x x: tls to true.",
		},
		"a stop": {
			map[string]string{"terraform": "true"},
			PatchSubject{Type: "aws-ec2", UID: "i-1", Verb: rule.VerbStop},
			"text",
			"In terraform, stop aws-ec2 i-1, or remove it.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, code := ControllerOf(c.tags)
			if code == nil {
				t.Fatal("no code")
			}
			if p := NewPatch(*code, c.of); p.Format != c.format || p.Text != c.text {
				t.Errorf("%s\n%s\nwant %s\n%s", p.Format, p.Text, c.format, c.text)
			}
		})
	}
}

// A text with templates, quotes and lines stays one text.
func TestNewPatch_ATextIsNotEvaluated(t *testing.T) {
	p := NewPatch(CodeOwner{Tool: "terraform"}, PatchSubject{
		Type: "aws-ec2", UID: "i-1\n}", Verb: "resize", After: map[string]string{"class": `${file("x")}"`},
	})
	want := "resource \"aws_instance\" \"NAME\" { # i-1 }\n  instance_type = \"$${file(\\\"x\\\")}\\\"\"\n}\n"
	if p.Text != want {
		t.Errorf("%s\nwant\n%s", p.Text, want)
	}
}

func TestControllerOf_NamesTheOwner(t *testing.T) {
	for want, tags := range map[string]map[string]string{
		"cloudformation (shop)": {"aws:cloudformation:stack-name": "shop"},
		"terraform (prod)":      {"managed_by": "Terraform", "Workspace": "prod"},
		"terraform":             {"goog-terraform-provisioned": "true"},
		"helm (shop)":           {"app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/instance": "shop"},
		"gitops (shop)":         {"argocd.argoproj.io/tracking-id": "shop:apps/Deployment:web/web"},
		"gitops (apps)":         {"kustomize.toolkit.fluxcd.io/name": "apps"},
	} {
		if _, code := ControllerOf(tags); code == nil || code.String() != want {
			t.Errorf("%v: %v, want %s", tags, code, want)
		}
	}
	for want, tags := range map[string]map[string]string{
		"eks": {"eks:cluster-name": "c"}, "": {"team": "a"}, "asg": {"aws:autoscaling:groupName": "g"},
	} {
		if got, code := ControllerOf(tags); code != nil || got != want {
			t.Errorf("%v: %s and the code %v, want %q and none", tags, got, code, want)
		}
	}
}

// Each line of the table names a value that a change of the catalogue sets, or a size that the verb scale sets. Each
// change of AWS by its own value has a name in both tools, unless it stands here.
func TestCodeNames_AreThoseOfTheCatalogue(t *testing.T) {
	sets, removes := map[[2]string]bool{}, map[string]bool{}
	for _, provider := range []string{"aws", "azure", "gcp", "kubernetes"} {
		for _, c := range cloud.ChangesOf(provider) {
			removes[c.Type] = removes[c.Type] || c.Verb.RemovesResource()
			for _, name := range c.Sets {
				sets[[2]string{c.Type, name}] = true
			}
		}
	}
	for at := range codeNames() {
		scales := bounds[at[0]][at[1]] != ""
		if removal := at[1] == cloud.ExistsValue && removes[at[0]]; !sets[at] && !scales && !removal {
			t.Errorf("%s %s: no change sets it", at[0], at[1])
		}
	}
}

// Each change of the catalogue has a patch for each tool: a text, or JSON that can be read, and no value is lost.
func TestNewPatch_LosesNoValue(t *testing.T) {
	for _, provider := range []string{"aws", "azure", "gcp", "kubernetes"} {
		for _, c := range cloud.ChangesOf(provider) {
			for _, tool := range []string{"cloudformation", "terraform", "helm", "gitops", "ansible"} {
				after := map[string]string{}
				for i, name := range c.Sets {
					after[name] = "v" + strings.Repeat("x", i)
				}
				p := NewPatch(CodeOwner{Tool: tool}, PatchSubject{
					Type: c.Type, UID: "uid", Verb: rule.Verb(c.Verb), After: after,
				})
				all := p.Text + strings.Join(p.Notes, "\n")
				for _, v := range after {
					if !strings.Contains(all, v) {
						t.Errorf("%s of %s for %s: %s lacks %s", c.Verb, c.Type, tool, all, v)
					}
				}
				if ok := json.Valid([]byte(p.Text)); p.Format == "json" && !ok ||
					!slices.Contains([]string{"json", "hcl", "yaml", "text"}, p.Format) || p.Text == "" {
					t.Errorf("%s of %s for %s: %s %s", c.Verb, c.Type, tool, p.Format, p.Text)
				}
			}
		}
	}
}
