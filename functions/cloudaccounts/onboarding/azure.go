package onboarding

import (
	"fmt"
	"slices"
	"strings"
)

// azureRole is the role of a level in the format of az.
type azureRole struct {
	Name             string   `json:"Name"`
	IsCustom         bool     `json:"IsCustom"`
	Description      string   `json:"Description"`
	Actions          []string `json:"Actions"`
	NotActions       []string `json:"NotActions"`
	AssignableScopes []string `json:"AssignableScopes"`
}

// These are the scopes where a role is defined and assigned: a subscription, or a management group with every
// subscription in it.
const (
	azureScope      = "/subscriptions/SUBSCRIPTION"
	azureGroupScope = "/providers/Microsoft.Management/managementGroups/MANAGEMENT_GROUP"
)

func azureSteps(o Organisation) (Steps, error) {
	policies, err := buildPolicies("azure", func(l level) (any, []string) {
		return azureRole{
			Name: azureRoleName(l.name), IsCustom: true, Description: "Permissions of Lamplighter at level " + l.name,
			Actions: l.all, NotActions: []string{},
			AssignableScopes: []string{azureScope},
		}, nil
	})
	if err != nil {
		return Steps{}, err
	}
	clusters, err := managedClusters(subject{rbac, "User", "OBJECT_ID", ""},
		"A binding of the AKS cluster to the application, by its object id; the cluster has to take tokens of Entra",
		"az aks update --name CLUSTER --resource-group GROUP --enable-aad",
		"az ad sp show --id APP_ID --query id --output tsv")
	if err != nil {
		return Steps{}, err
	}
	all, err := azureOrganisation()
	if err != nil {
		return Steps{}, err
	}
	bills, err := azureBilling()
	if err != nil {
		return Steps{}, err
	}
	audience := "api://AzureADTokenExchange/" + o.ID
	role := "az role definition create --role-definition " + quote(string(policyOf(policies, startStopLevel).Document))
	return Steps{
		Provider: "azure", Audience: &audience, Policies: policies, Clusters: clusters, Organisation: all,
		Billing: bills, Methods: []Method{
			{
				AuthMethod:  "workload_identity_federation",
				Title:       "An application that trusts this service's own tokens; no secret changes hands",
				Recommended: true,
				Commands: []string{
					role,
					"az ad app create --display-name lamplighter --query appId --output tsv",
					"az ad sp create --id APP_ID",
					"az ad app federated-credential create --id APP_ID --parameters " +
						quote(
							fmt.Sprintf(`{"name":"lamplighter","issuer":%q,"subject":%q,"audiences":[%q]}`,
								o.Issuer, o.Subject, audience)),
					"az role assignment create --assignee APP_ID --role " + quote(azureRoleName(startStopLevel)) +
						" --scope " + azureScope,
				},
				Credentials: []string{"tenantID", "clientID"},
			},
			{
				AuthMethod: "service_principal", Title: "An application with a secret, which ends",
				Commands: []string{
					role,
					"az ad sp create-for-rbac --name lamplighter --role " + quote(azureRoleName(startStopLevel)) +
						" --scopes " + azureScope,
				},
				Credentials: []string{"tenantID", "clientID", "clientSecret"},
			},
		},
	}, nil
}

// azureOrganisation returns the steps that connect all subscriptions of a management group at once: the application
// of one of the methods, with one role at the group. Every present and future subscription in the group inherits the
// role.
func azureOrganisation() (*WholeOrganisation, error) {
	r := requiredBy("azure")
	name := azureRoleName("organisation")
	doc, err := encodeIndented(azureRole{
		Name: name, IsCustom: true,
		Description: "Permissions of Lamplighter in a management group and its subscriptions at level " +
			startStopLevel,
		Actions: slices.Concat(r.Organisation, r.StartStop), NotActions: []string{},
		AssignableScopes: []string{azureGroupScope},
	})
	if err != nil {
		return nil, fmt.Errorf("write role of management groups: %w", err)
	}
	return &WholeOrganisation{Actions: r.Organisation, Document: doc, Commands: []string{
		"az role definition create --role-definition " + quote(string(doc)),
		"az role assignment create --assignee APP_ID --role " + quote(name) + " --scope " + azureGroupScope,
	}}, nil
}

func azureRoleName(level string) string { return "Lamplighter " + strings.ReplaceAll(level, "_", " ") }
