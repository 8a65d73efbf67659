package receiver

import (
	"slices"
	"strings"
)

// The kinds of services.
const (
	GitHub    = "github"
	GitLab    = "gitlab"
	ECR       = "ecr"
	GAR       = "gar"
	ACR       = "acr"
	DockerHub = "dockerhub"
	Jira      = "jira"
	PagerDuty = "pagerduty"
)

// IntegrationKind describes a kind of service, as in GET /integrations/catalogue.
type IntegrationKind struct {
	Kind        string             `json:"kind" enum:"github,gitlab,ecr,gar,acr,dockerhub,jira,pagerduty"`
	Name        string             `json:"name" example:"Jira"`
	Category    string             `json:"category" enum:"repositories,registries,issues,incidents"`
	Description string             `json:"description" doc:"The purpose of the integration"`
	TakesEvents bool               `json:"takesEvents" doc:"Events are delivered to it, by eventTypes and scope"`
	SendsEvents bool               `json:"sendsEvents" doc:"It calls us: connecting it answers an address and a secret for its webhooks"`
	Fields      []IntegrationField `json:"fields" doc:"The fields of config"`
}

// IntegrationField is a field of the configuration of a kind.
type IntegrationField struct {
	Name        string   `json:"name" example:"apiToken"`
	Required    bool     `json:"required"`
	Secret      bool     `json:"secret" doc:"It is never answered; without it a change keeps the one there is"`
	Description string   `json:"description"`
	Values      []string `json:"values" doc:"The allowed values; [] if any text is allowed"`
	Default     string   `json:"default" doc:"The value of a field that is left out"`

	address bool // its value is a URL
	leads   bool // secrets are sent to this value: a change of it requires them again
	check   func(value string) string
}

// IntegrationCatalogue returns the kinds.
func IntegrationCatalogue() []IntegrationKind { return slices.Clone(catalogue) }

// IntegrationKindOf returns the entry of a kind.
func IntegrationKindOf(kind string) (IntegrationKind, bool) {
	i := slices.IndexFunc(catalogue, func(e IntegrationKind) bool { return e.Kind == kind })
	if i < 0 {
		return IntegrationKind{}, false
	}
	return catalogue[i], true
}

// EndpointURL is the field that overrides the vendor's address. It is accepted where the operator allows it.
const EndpointURL = "endpointURL"

var endpoint = IntegrationField{
	Name: EndpointURL, address: true, leads: true, Values: []string{},
	Description: "Another address of the service, such as a mirror's; only where the operator of this deployment " +
		"allows it",
}

func text(name, description string, check func(string) string) IntegrationField {
	return IntegrationField{Name: name, Required: true, Values: []string{}, Description: description, check: check}
}

func address(name, description, fallback string) IntegrationField {
	return IntegrationField{
		Name: name, Required: fallback == "", Values: []string{}, Description: description,
		Default: fallback, address: true, leads: true,
	}
}

// registryHost returns the field with the host of a registry.
func registryHost(description string, check func(string) string) IntegrationField {
	f := text("host", description, check)
	f.leads = true
	return f
}

func secret(name, description string, check func(string) string) IntegrationField {
	f := text(name, description, check)
	f.Secret = true
	return f
}

var catalogue = []IntegrationKind{
	{
		Kind: GitHub, Name: "GitHub", Category: "repositories", SendsEvents: true,
		Description: "Pushes and pull requests of repositories are recorded when its webhooks call us.",
		Fields: []IntegrationField{
			secret("token", "A personal access token, or one of an installation, that may read the repositories", nil),
			address("baseURL", "The address of its API; https://HOST/api/v3 for GitHub Enterprise Server",
				"https://api.github.com"),
		},
	},
	{
		Kind: GitLab, Name: "GitLab", Category: "repositories", SendsEvents: true,
		Description: "Pushes and merge requests of projects are recorded when its webhooks call us.",
		Fields: []IntegrationField{
			secret("token", "A personal, group or project access token of scope read_api", nil),
			address("baseURL", "The address of a GitLab of your own", "https://gitlab.com"),
		},
	},
	{
		Kind: ECR, Name: "Amazon ECR", Category: "registries",
		Description: "A registry of images, reached by a connected cloud account; no credential of its own is kept.",
		Fields: []IntegrationField{
			text(CloudAccountID, "Our id of the account of AWS that has the registry", isAccountID),
			text("region", "The region of the registry, such as eu-west-1", isRegion),
		},
	},
	{
		Kind: GAR, Name: "Google Artifact Registry", Category: "registries", Description: "A registry of images.",
		Fields: []IntegrationField{
			registryHost("Of the registry, such as europe-west1-docker.pkg.dev", isGoogleRegistry),
			secret("serviceAccountKey", "The JSON key of a service account that may read the registry", isJSON),
			endpoint,
		},
	},
	{
		Kind: ACR, Name: "Azure Container Registry", Category: "registries", Description: "A registry of images.",
		Fields: []IntegrationField{
			registryHost("Of the registry, such as example.azurecr.io", isAzureRegistry),
			text("username", "The client id of a service principal, or the name of a token", isCredential),
			secret("password", "Its secret", nil), endpoint,
		},
	},
	{
		Kind: DockerHub, Name: "Docker Hub", Category: "registries", Description: "A registry of images.",
		Fields: []IntegrationField{
			text("username", "The name of the account or organization", isCredential),
			secret("token", "An access token of it", nil), endpoint,
		},
	},
	{
		Kind: Jira, Name: "Jira", Category: "issues", TakesEvents: true,
		Description: "An event creates an issue; further ones of the same budget, anomaly or resource become " +
			"comments on it.",
		Fields: []IntegrationField{
			address("siteURL", "The address of the site, such as https://example.atlassian.net", ""),
			text("email", "The address of the account whose API token it is", isEmail),
			secret("apiToken", "An API token of the account", nil),
			text("project", "The key of the project, such as OPS", isProject),
			{
				Name: "issueType", Values: []string{}, Description: "The name of the type of issues in the project",
				Default: "Task", check: isShort,
			},
		},
	},
	{
		Kind: PagerDuty, Name: "PagerDuty", Category: "incidents", TakesEvents: true,
		Description: "An event triggers an alert, one for each budget, anomaly or resource; a resource that starts " +
			"or stops again resolves its alert, and an override is a change event.",
		Fields: []IntegrationField{
			secret("routingKey", "The integration key of an integration \"Events API V2\" of a service", isRoutingKey),
			{
				Name: "region", Values: []string{"us", "eu"}, Description: "The service region of the account",
				Default: "us", leads: true,
			},
			endpoint,
		},
	},
}

func (e *IntegrationKind) names() string {
	out := make([]string, len(e.Fields))
	for i := range e.Fields {
		out[i] = e.Fields[i].Name
	}
	return strings.Join(out, ", ")
}
