// Package onboarding is what a customer has to do in his cloud before this service can be let in: the exact policies, the
// template and the commands. It links no cloud SDK, so that API functions can show it.
package onboarding

import (
	"cmp"
	"encoding/json"
	"regexp"

	"lamplighter.dev/shared/foundation/fault"
)

// Steps are the ways in, one for each authMethod, and the permissions in three levels, each holding the ones before it.
type Steps struct {
	Provider     string             `json:"provider"`
	ExternalID   *string            `json:"externalID" doc:"Null where none is needed. Given out by this service for the organization; goes into the role's trust policy"`
	Principal    *string            `json:"principal" doc:"Null where nobody is. Who assumes the role: this service's own identity"`
	Audience     *string            `json:"audience" doc:"Null where none is needed. Of the tokens by which this service opens accounts of workload identity federation for this organization; allow it, and no other"`
	Policies     []CloudPolicy      `json:"policies"`
	Methods      []Method           `json:"methods"`
	Clusters     *ManagedClusters   `json:"clusters" doc:"How the credentials of the account are let into the Kubernetes clusters that the cloud runs, for PUT …/clusters/{region}/{clusterName}/access with method cloud_iam; null where it runs none"`
	Organisation *WholeOrganisation `json:"organisation" doc:"How all accounts are connected at once, for POST /cloud-organisations; null where that cannot be"`
	Billing      *BillAccess        `json:"billing" doc:"What lets the bills of the account be read; null where it has none"`
}

// CloudPolicy is what the credentials have to be allowed, up to a level.
type CloudPolicy struct {
	Level    string          `json:"level" enum:"read_only,start_stop,scale"`
	Actions  []string        `json:"actions"`
	Document json.RawMessage `json:"document" doc:"The policy as the cloud takes it"`
}

// Method is how an account is connected with one authMethod. Template is nil where there is none.
type Method struct {
	AuthMethod     string   `json:"authMethod"`
	Title          string   `json:"title"`
	Recommended    bool     `json:"recommended"`
	Template       *string  `json:"template" doc:"What is to be applied: a CloudFormation template, for Kubernetes a manifest; null where there is none"`
	QuickCreateURL *string  `json:"quickCreateURL" doc:"The page of the console that makes what the template describes; null where the operator has published none"`
	Commands       []string `json:"commands" doc:"Shell commands, in order. What is in capitals is yours to put in"`
	Credentials    []string `json:"credentials" doc:"Names of the credentials to send when connecting the account"`
}

// ManagedClusters is what lets the credentials of an account into a cluster. Each cluster needs it once.
type ManagedClusters struct {
	Title    string        `json:"title"`
	Policies []CloudPolicy `json:"policies" doc:"The ClusterRole of each level"`
	Manifest string        `json:"manifest" doc:"A ClusterRole of level start_stop, and what binds it to whom the cloud lets in, as kubectl takes it"`
	Commands []string      `json:"commands" doc:"Shell commands, in order, with kubectl set to the cluster. What is in capitals is yours to put in"`
}

// WholeOrganisation is what lets the accounts of an organization be listed, and each be opened.
type WholeOrganisation struct {
	Actions    []string        `json:"actions" doc:"What the credentials of the connection have to be allowed besides"`
	Document   json.RawMessage `json:"document" doc:"These, as the cloud takes them"`
	MemberRole string          `json:"memberRole" doc:"The role that is assumed in each member; empty where members are opened with the credentials of the connection"`
	Commands   []string        `json:"commands" doc:"Shell commands, in order, after those of a method. What is in capitals is yours to put in"`
}

// Organisation is an organization of ours that connects accounts, and who opens them for it.
type Organisation struct {
	ID          string // org_…
	ExternalID  string
	Principal   string // who assumes roles of AWS
	Issuer      string // who issues the tokens by which other clouds know us; empty where that is not known
	Subject     string // whom these tokens name; empty where that is not known
	TemplateURL string // where the operator has published the template of the role; empty where not
}

var (
	externalIDForm = regexp.MustCompile(`^[\w+=,.@:/-]{2,256}$`)
	principalForm  = regexp.MustCompile(`^(arn:aws[a-z-]*:(iam|sts)::\d{12}:[\w+=,.@:/-]+|\d{12})$`)
	issuerForm     = regexp.MustCompile(`^(https://[0-9A-Za-z./-]+)?$`)
	builders       = map[string]func(Organisation) (Steps, error){
		"aws": amazon, "azure": microsoft, "gcp": google, "kubernetes": cluster, "simulated": simulated,
	}
)

// StepsFor returns the steps for a provider. What is in o ends up in policies and in commands that are pasted into a shell, so it is held
// to AWS's own alphabets: anything else is fault.Invalid. A provider
// that has no steps is fault.NotFound.
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

// simulated needs nothing: its cloud is this service's own.
func simulated(Organisation) (Steps, error) {
	return Steps{Provider: "simulated", Policies: []CloudPolicy{}, Methods: []Method{{
		AuthMethod: "simulated", Title: "A cloud that is simulated: there is nothing to prepare", Recommended: true,
		Commands: []string{}, Credentials: []string{},
	}}}, nil
}

func amazon(o Organisation) (Steps, error) {
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
