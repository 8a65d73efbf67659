// Package onboarding returns the steps that a customer takes in a cloud before this service can connect: exact
// policies, templates and commands. It links no cloud SDK, so that API functions can use it.
package onboarding

import (
	"cmp"
	"encoding/json"
	"regexp"

	"lamplighter.dev/shared/foundation/fault"
)

// Steps are the methods of connecting, one for each authMethod, and the permissions in four levels. Each level
// contains the ones before it.
type Steps struct {
	Provider     string             `json:"provider"`
	ExternalID   *string            `json:"externalID" doc:"Issued by this service for the organization; belongs into the role's trust policy. Null if none is needed"`
	Principal    *string            `json:"principal" doc:"This service's own identity, which assumes the role. Null if it has none"`
	Audience     *string            `json:"audience" doc:"The audience of this service's tokens for workload identity federation of this organization; allow it, and no other. Null if none is needed"`
	Policies     []CloudPolicy      `json:"policies"`
	Methods      []Method           `json:"methods"`
	Clusters     *ManagedClusters   `json:"clusters" doc:"Steps that let the account's credentials enter the cloud's Kubernetes clusters, for PUT …/clusters/{region}/{clusterName}/access with method cloud_iam; null if the cloud has none"`
	Organisation *WholeOrganisation `json:"organisation" doc:"Steps that connect all accounts at once, for POST /cloud-organisations; null if that is not supported"`
	Billing      *BillAccess        `json:"billing" doc:"Permissions for reading the account's bills; null if it has none"`
	Metrics      *ClusterMetrics    `json:"metrics" doc:"The optional permission that lets the cluster's Prometheus be asked; null if the provider's metrics need no more than its policies. For clusters of a cloud see clusters.metrics"`
}

// CloudPolicy lists the permissions that the credentials need, up to a level.
type CloudPolicy struct {
	Level    string          `json:"level" enum:"read_only,start_stop,scale,remediate" doc:"remediate allows exactly what carrying out recommendations needs, beside the levels before it. The commands of the methods give start_stop, or scale for aws; put the document of another level in its place"`
	Actions  []string        `json:"actions"`
	Document json.RawMessage `json:"document" doc:"The policy as the cloud takes it"`
}

// Method describes how to connect an account with one authMethod. Template is nil if there is none.
type Method struct {
	AuthMethod     string   `json:"authMethod"`
	Title          string   `json:"title"`
	Recommended    bool     `json:"recommended"`
	Template       *string  `json:"template" doc:"A CloudFormation template, or a Kubernetes manifest, to apply; null if there is none"`
	QuickCreateURL *string  `json:"quickCreateURL" doc:"The console page that creates the template's resources; null if the operator has published none"`
	Commands       []string `json:"commands" doc:"Shell commands, in order. Replace the words in capitals"`
	Credentials    []string `json:"credentials" doc:"Names of the credentials to send when connecting the account"`
}

// ManagedClusters lets the credentials of an account enter a cluster. Each cluster needs it once.
type ManagedClusters struct {
	Title    string          `json:"title"`
	Policies []CloudPolicy   `json:"policies" doc:"The ClusterRole of each level"`
	Manifest string          `json:"manifest" doc:"A ClusterRole of level start_stop and its binding to the cloud identity, for kubectl"`
	Commands []string        `json:"commands" doc:"Shell commands, in order, with kubectl set to the cluster. Replace the words in capitals"`
	Metrics  *ClusterMetrics `json:"metrics" doc:"The optional permission that lets the cluster's Prometheus be asked"`
}

// ClusterMetrics lets a Prometheus in the cluster be asked through the API server. It is optional, because the
// permission covers requests to every Service; an account may name the address of its Prometheus instead.
type ClusterMetrics struct {
	Actions  []string `json:"actions"`
	Manifest string   `json:"manifest" doc:"A ClusterRole with the permission and its binding, for kubectl"`
	Commands []string `json:"commands" doc:"Shell commands, with kubectl set to the cluster"`
}

// WholeOrganisation lets this service list the accounts of an organization and connect to each.
type WholeOrganisation struct {
	Actions    []string        `json:"actions" doc:"The additional permissions for the credentials of the connection"`
	Document   json.RawMessage `json:"document" doc:"These, as the cloud takes them"`
	MemberRole string          `json:"memberRole" doc:"The role to assume in each member; empty if members are entered with the credentials of the connection"`
	Commands   []string        `json:"commands" doc:"Shell commands to run after those of a method. Replace the words in capitals"`
}

// Organisation is an organization of this service that connects accounts, with this service's identity for it.
type Organisation struct {
	ID          string // org_…
	ExternalID  string
	Principal   string // the AWS principal that assumes the customer's roles
	Issuer      string // the issuer of this service's tokens for the other clouds; empty if unknown
	Subject     string // the subject of these tokens; empty if unknown
	TemplateURL string // the operator's published template of the role; empty if none
}

var (
	externalIDForm = regexp.MustCompile(`^[\w+=,.@:/-]{2,256}$`)
	principalForm  = regexp.MustCompile(`^(arn:aws[a-z-]*:(iam|sts)::\d{12}:[\w+=,.@:/-]+|\d{12})$`)
	issuerForm     = regexp.MustCompile(`^(https://[0-9A-Za-z./-]+)?$`)
	builders       = map[string]func(Organisation) (Steps, error){
		"aws": awsSteps, "azure": azureSteps, "gcp": gcpSteps, "kubernetes": kubernetesSteps,
		"simulated": simulatedSteps,
	}
)

// StepsFor returns the steps for a provider. The values in o become part of policies and shell commands, so values
// outside AWS's own alphabets are fault.Invalid. A provider without steps is fault.NotFound.
func StepsFor(provider string, o Organisation) (Steps, error) {
	build, listed := builders[provider], len(requiredBy(provider).Discover) > 0
	if build == nil || !listed && provider != "simulated" {
		return Steps{}, fault.New(fault.NotFound, "there are no onboarding steps for provider %q", provider)
	}
	switch {
	case !externalIDForm.MatchString(o.ExternalID) || !externalIDForm.MatchString(o.ID):
		return Steps{}, fault.New(
			fault.Invalid, "%q cannot be an external id: 2 to 256 letters, digits and +=,.@:/-_", o.ExternalID)
	case !principalForm.MatchString(o.Principal):
		return Steps{}, fault.New(fault.Invalid, "%q cannot assume a role: it is neither an account number nor an "+
			"ARN of IAM", o.Principal)
	case o.Subject != "" && !principalForm.MatchString(o.Subject):
		return Steps{}, fault.New(fault.Invalid, "%q cannot be the subject of tokens: it is no ARN of IAM", o.Subject)
	case !issuerForm.MatchString(o.Issuer):
		return Steps{}, fault.New(fault.Invalid, "%q cannot be the issuer of tokens: it is no https address", o.Issuer)
	}
	o.Issuer, o.Subject = cmp.Or(o.Issuer, "ISSUER"), cmp.Or(o.Subject, "SUBJECT")
	return build(o)
}

// simulatedSteps returns no steps: the simulated cloud belongs to this service.
func simulatedSteps(Organisation) (Steps, error) {
	return Steps{Provider: "simulated", Policies: []CloudPolicy{}, Methods: []Method{{
		AuthMethod: "simulated", Title: "A cloud that is simulated: there is nothing to prepare", Recommended: true,
		Commands: []string{}, Credentials: []string{},
	}}}, nil
}

func awsSteps(o Organisation) (Steps, error) {
	policies, err := awsPolicies()
	if err != nil {
		return Steps{}, err
	}
	methods, err := awsMethods(o, policies)
	if err != nil {
		return Steps{}, err
	}
	all, err := wholeOrganisation(o)
	if err != nil {
		return Steps{}, err
	}
	bills, err := awsBilling()
	if err != nil {
		return Steps{}, err
	}
	clusters, err := managedClusters(subject{rbac, "Group", roleName, ""},
		"An access entry of the EKS cluster that puts the role into a group",
		"aws eks create-access-entry --cluster-name CLUSTER --region REGION --kubernetes-groups lamplighter "+
			"--principal-arn ROLE_ARN")
	return Steps{
		Provider: "aws", ExternalID: &o.ExternalID, Principal: &o.Principal, Policies: policies, Methods: methods,
		Clusters: clusters, Organisation: all,
		Billing: bills,
	}, err
}
