package gateway

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// template is the part of a SAM template that describes an API.
type template struct {
	Resources map[string]resource `yaml:"Resources"`
	source    []string            // the headers that a request must have to reach the authorizer
	routes    []*route            // the most specific first
}

type resource struct {
	Type       string    `yaml:"Type"`
	Properties yaml.Node `yaml:"Properties"`
}

// operation is the template's description of one method of a path.
type operation struct {
	Security    []map[string][]string `yaml:"security"`
	Integration struct {
		URI string `yaml:"uri"`
	} `yaml:"x-amazon-apigateway-integration"`
}

type api struct {
	Auth struct {
		DefaultAuthorizer string                `yaml:"DefaultAuthorizer"`
		Authorizers       map[string]authorizer `yaml:"Authorizers"`
	} `yaml:"Auth"`
	GatewayResponses map[string]response `yaml:"GatewayResponses"`
	DefinitionBody   struct {
		Paths map[string]map[string]operation `yaml:"paths"`
	} `yaml:"DefinitionBody"`
}

type authorizer struct {
	FunctionPayloadType string `yaml:"FunctionPayloadType"`
	Identity            struct {
		Headers          []string `yaml:"Headers"`
		ReauthorizeEvery *int     `yaml:"ReauthorizeEvery"`
	} `yaml:"Identity"`
}

// response is API Gateway's own answer, without a function.
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
		if r.Type == "AWS::Serverless::Api" {
			if err := t.checkAPI(id, r); err != nil {
				return nil, err
			}
		}
	}
	if t.source == nil {
		return nil, errors.New("template has no AWS::Serverless::Api with a default authorizer")
	}
	return t, nil
}

// checkAPI reads the default authorizer and the routes of an API. It returns an error for an authorizer of another
// kind than the service's, because the gateway could not imitate that one.
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
	for path, methods := range a.DefinitionBody.Paths {
		if err := t.addRoutes(path, methods); err != nil {
			return fmt.Errorf("template: %s: %w", id, err)
		}
	}
	slices.SortFunc(t.routes, compareRoutes)
	return nil
}

// liveFunction matches the address of a function's alias live, and captures the function's folder.
var liveFunction = regexp.MustCompile(`:function:lamplighter-\$\{Stage\}-(\w+):live/invocations$`)

// addRoutes adds the routes of a path, one for each method. It returns an error if a route does not lead to a
// function.
func (t *template) addRoutes(path string, methods map[string]operation) error {
	for method, op := range methods {
		folder := liveFunction.FindStringSubmatch(op.Integration.URI)
		if folder == nil {
			return fmt.Errorf("the path %s leads to %q, which is no function", path, op.Integration.URI)
		}
		t.routes = append(t.routes, &route{
			pattern: path, segments: splitPath(path), method: methodOf(method), folder: folder[1], public: op.public(),
		})
	}
	return nil
}

// methodOf returns the method of a path's member: "ANY" for x-amazon-apigateway-any-method.
func methodOf(member string) string {
	return strings.ToUpper(strings.TrimSuffix(strings.TrimPrefix(member, "x-amazon-apigateway-"), "-method"))
}

// public reports whether the operation has no authorizer. SAM writes that as the authorizer NONE.
func (o operation) public() bool {
	return slices.ContainsFunc(o.Security, func(s map[string][]string) bool { _, none := s["NONE"]; return none })
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
