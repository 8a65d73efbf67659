package gateway

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"

	"gopkg.in/yaml.v3"
)

// template is the part of a SAM template that an API is made of.
type template struct {
	Resources map[string]resource `yaml:"Resources"`
	source    []string            // the headers that a request must have to reach the authorizer
}

type resource struct {
	Type       string    `yaml:"Type"`
	Properties yaml.Node `yaml:"Properties"`
}

type function struct {
	CodeURI string           `yaml:"CodeUri"`
	Events  map[string]event `yaml:"Events"`
}

type event struct {
	Type       string    `yaml:"Type"`
	Properties yaml.Node `yaml:"Properties"`
}

type apiEvent struct {
	Path   string `yaml:"Path"`
	Method string `yaml:"Method"`
	Auth   struct {
		Authorizer string `yaml:"Authorizer"`
	} `yaml:"Auth"`
}

type api struct {
	Auth struct {
		DefaultAuthorizer string                `yaml:"DefaultAuthorizer"`
		Authorizers       map[string]authorizer `yaml:"Authorizers"`
	} `yaml:"Auth"`
	GatewayResponses map[string]response `yaml:"GatewayResponses"`
}

type authorizer struct {
	FunctionPayloadType string `yaml:"FunctionPayloadType"`
	Identity            struct {
		Headers          []string `yaml:"Headers"`
		ReauthorizeEvery *int     `yaml:"ReauthorizeEvery"`
	} `yaml:"Identity"`
}

// response is how API Gateway answers when no function does.
type response struct {
	StatusCode         int `yaml:"StatusCode"`
	ResponseParameters struct {
		Headers map[string]string `yaml:"Headers"`
	} `yaml:"ResponseParameters"`
	ResponseTemplates map[string]string `yaml:"ResponseTemplates"`
}

func parseTemplate(b []byte) (*template, error) {
	t := &template{}
	if err := yaml.Unmarshal(b, t); err != nil {
		return nil, fmt.Errorf("parse template: %w", err)
	}
	for id, r := range t.Resources {
		switch r.Type {
		case "AWS::Serverless::Api":
			if err := t.checkAPI(id, r); err != nil {
				return nil, err
			}
		case "AWS::Serverless::Function":
			if err := t.checkFunction(id, r); err != nil {
				return nil, err
			}
		}
	}
	if t.source == nil {
		return nil, errors.New("template has no AWS::Serverless::Api with a default authorizer")
	}
	return t, nil
}

// checkAPI takes over the default authorizer. Only the kind that the service has is understood; another is refused, so
// that a change of the template is not silently played otherwise than in AWS.
func (t *template) checkAPI(id string, r resource) error {
	var a api
	if err := r.Properties.Decode(&a); err != nil {
		return fmt.Errorf("parse template: %s: %w", id, err)
	}
	auth, ok := a.Auth.Authorizers[a.Auth.DefaultAuthorizer]
	if !ok || auth.FunctionPayloadType != "REQUEST" || len(auth.Identity.Headers) == 0 {
		return fmt.Errorf("template: %s: the default authorizer must be of type REQUEST, with Identity.Headers", id)
	}
	if every := auth.Identity.ReauthorizeEvery; every == nil || *every != 0 {
		return fmt.Errorf("template: %s: ReauthorizeEvery must be 0: a remembered answer outlives the log-out", id)
	}
	t.source = auth.Identity.Headers
	return nil
}

func (t *template) checkFunction(id string, r resource) error {
	var f function
	if err := r.Properties.Decode(&f); err != nil {
		return fmt.Errorf("parse template: %s: %w", id, err)
	}
	for name, e := range f.Events {
		var a apiEvent
		if e.Type != "Api" {
			continue
		}
		if err := e.Properties.Decode(&a); err != nil {
			return fmt.Errorf("parse template: %s: event %s: %w", id, name, err)
		}
	}
	return nil
}

// gatewayResponses returns the gateway responses of the template's APIs.
func (t *template) gatewayResponses() map[string]response {
	out := map[string]response{}
	for _, r := range t.Resources {
		var a api
		if r.Type == "AWS::Serverless::Api" && r.Properties.Decode(&a) == nil {
			maps.Copy(out, a.GatewayResponses)
		}
	}
	return out
}

// eventRoutes returns the Api events of the template's functions, the most specific first.
func (t *template) eventRoutes() []*route {
	var out []*route
	for _, r := range t.Resources {
		var f function
		if r.Type != "AWS::Serverless::Function" || r.Properties.Decode(&f) != nil {
			continue
		}
		for _, e := range f.Events {
			var a apiEvent
			if e.Type == "Api" && e.Properties.Decode(&a) == nil {
				out = append(out, &route{
					pattern: a.Path, segments: splitPath(a.Path), method: cmp.Or(a.Method, "ANY"),
					folder: path.Base(f.CodeURI), public: a.Auth.Authorizer == "NONE",
				})
			}
		}
	}
	slices.SortFunc(out, compareRoutes)
	return out
}
