package onboarding

import (
	"fmt"
	"slices"
	"strings"
)

// googleRole is the custom role of a level in the file format of gcloud.
type googleRole struct {
	Title               string   `json:"title"`
	Description         string   `json:"description"`
	Stage               string   `json:"stage"`
	IncludedPermissions []string `json:"includedPermissions"`
}

// robotOf is the service account that the commands create.
const robotOf = "lamplighter@PROJECT.iam.gserviceaccount.com"

func gcpSteps(o Organisation) (Steps, error) {
	policies, err := buildPolicies("gcp", func(l level) (any, []string) {
		return googleRole{"Lamplighter " + l.name, "Permissions of Lamplighter at level " + l.name, "GA", l.all}, nil
	})
	if err != nil {
		return Steps{}, err
	}
	clusters, err := managedClusters(subject{rbac, "User", robotOf, ""},
		"A binding of the GKE cluster to the service account; the permission is for clusters that are entered by "+
			"their name in DNS",
		"gcloud iam roles update lamplighter --project=PROJECT --add-permissions=container.clusters.connect")
	if err != nil {
		return Steps{}, err
	}
	all, err := googleOrganisation()
	if err != nil {
		return Steps{}, err
	}
	bills, err := googleBilling()
	if err != nil {
		return Steps{}, err
	}
	audience := "lamplighter/" + o.ID
	robot := []string{
		"gcloud services enable --project=PROJECT " + strings.Join(requiredBy("gcp").Services, " "),
		"gcloud iam roles create lamplighter --project=PROJECT --title=Lamplighter --stage=GA --permissions=" +
			strings.Join(policyOf(policies, startStopLevel).Actions, ","),
		"gcloud iam service-accounts create lamplighter --project=PROJECT",
		"gcloud projects add-iam-policy-binding PROJECT --condition=None --role=projects/PROJECT/roles/lamplighter " +
			"--member=serviceAccount:" + robotOf,
	}
	return Steps{
		Provider: "gcp", Audience: &audience, Policies: policies, Clusters: clusters, Organisation: all,
		Billing: bills, Methods: []Method{
			{
				AuthMethod: "workload_identity_federation",
				Title:      "A pool that trusts this service's own tokens; no secret changes hands", Recommended: true,
				Commands: append(slices.Clone(robot),
					"gcloud iam workload-identity-pools create lamplighter --project=PROJECT --location=global",
					"gcloud iam workload-identity-pools providers create-oidc lamplighter --project=PROJECT "+
						"--location=global --workload-identity-pool=lamplighter"+
						" --issuer-uri="+o.Issuer+" --attribute-mapping=google.subject=assertion.sub "+
						"--allowed-audiences="+
						quote(audience),
					"gcloud iam service-accounts add-iam-policy-binding "+robotOf+
						" --project=PROJECT --role=roles/iam.workloadIdentityUser"+
						" --member=principal://iam.googleapis.com/projects/NUMBER/locations/global"+
						"/workloadIdentityPools/lamplighter/subject/"+o.Subject,
				),
				Credentials: []string{"workloadIdentityProvider", "serviceAccountEmail"},
			},
			{
				AuthMethod: "oauth",
				Title:      "A person who may use the project agrees in a browser: GET /connect/gcp/oauth-url",
				Commands:   []string{}, Credentials: []string{},
			},
			{
				AuthMethod: "service_account", Title: "A service account with a key, which does not end by itself",
				Commands: append(slices.Clone(robot),
					"gcloud iam service-accounts keys create key.json --iam-account="+robotOf),
				Credentials: []string{"serviceAccountKey"},
			},
		},
	}, nil
}

// googleOrganisation returns the steps that connect all projects of an organization, or of a folder, at once: the
// service account of one of the methods, with one role at the organization or folder. Every present and future
// project in it inherits the role. A role of a project cannot contain the permission to list an organization, and
// folders have no roles of their own.
func googleOrganisation() (*WholeOrganisation, error) {
	r := requiredBy("gcp")
	granted := slices.Concat(r.Organisation, r.StartStop)
	doc, err := encodeIndented(googleRole{
		"Lamplighter organisation",
		"Permissions of Lamplighter in an organization and its projects at level " + startStopLevel, "GA", granted,
	})
	if err != nil {
		return nil, fmt.Errorf("write role of organizations: %w", err)
	}
	const bind = " --condition=None --role=organizations/ORGANIZATION/roles/lamplighter --member=serviceAccount:" +
		robotOf
	return &WholeOrganisation{Actions: r.Organisation, Document: doc, Commands: []string{
		"gcloud iam roles create lamplighter --organization=ORGANIZATION --title=Lamplighter --stage=GA" +
			" --permissions=" + strings.Join(granted, ","),
		"gcloud organizations add-iam-policy-binding ORGANIZATION" + bind,
		"gcloud resource-manager folders add-iam-policy-binding FOLDER" + bind +
			" # in place of the one before, for one folder",
	}}, nil
}
