package rest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/yaml"
)

// API describes the operations of a handler, as OpenAPI 3.1.
type API struct {
	huma  huma.API
	doc   *huma.OpenAPI
	names *schemaNames
}

const about = "Lamplighter manages cloud cost, inventory and operations across AWS, GCP, Azure and Kubernetes. " +
	"Successful answers carry their payload in `data`. Failures have one of three shapes, chosen by the layer that " +
	"answered: " +
	"`{\"error\":{\"message\"}}` from the service, `{\"error\":\"…\"}` from the gateway (401, 405, 429), and " +
	"`{\"error\",\"error_description\"}` under `/oauth/`. Bodies above 1 MiB (413), addresses above 8 KiB (414) and " +
	"methods that the " +
	"proxy refuses (405) are answered with an HTML page. Unknown query parameters and body fields are ignored. " +
	"Every time in a query or a body is RFC 3339 or a date, which is the start of that day in UTC; `from` after " +
	"`to` is 400. " +
	"An empty query parameter that is not text is 400, and so is one that is given twice but may have only one " +
	"value; " +
	"separate several values of a filter by commas, or repeat the parameter. Each member of a record is " +
	"always present: " +
	"`null`, `[]` or `{}` if it has no value. An error quotes at most 200 bytes of the request. Each answer carries " +
	"`X-Request-Id`, which is always the service's own; a client's `X-Request-Id` of 8 to 128 letters, digits and " +
	"`._:/+=-` is recorded as `clientRequestID`. In sample bodies a value such as `<groupID>` stands for an id of " +
	"your own, and one such as `<in 2 hours>` for a time."

func newAPI(s *server) *API {
	names := &schemaNames{types: map[string]reflect.Type{}}
	doc := &huma.OpenAPI{
		OpenAPI: "3.1.0",
		Info:    &huma.Info{Title: "Lamplighter", Version: "1.1.0", Description: about},
		Components: &huma.Components{
			Schemas: huma.NewMapRegistry("#/components/schemas/", names.name),
			SecuritySchemes: map[string]*huma.SecurityScheme{"bearer": {
				Type: "http", Scheme: "bearer",
				Description: "An access token from POST /auth/login, or a personal access token.",
			}},
		},
		Security: []map[string][]string{{"bearer": {}}},
	}
	cfg := huma.Config{
		OpenAPI: doc, DefaultFormat: contentJSON,
		// the last of an OAuthError
		Formats: map[string]huma.Format{contentJSON: jsonFormat, "json": jsonFormat, "text/plain": jsonFormat},
	}
	cfg.AllowAdditionalPropertiesByDefault = true
	return &API{huma.NewAPI(cfg, s), doc, names}
}

var jsonFormat = huma.Format{Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal}

// unmarshal returns errors without names of Go types.
func unmarshal(b []byte, v any) error {
	err := json.Unmarshal(b, v)
	if e, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return fmt.Errorf("%s at byte %d does not fit", clipText(cmp.Or(e.Field, e.Value), maxName), e.Offset)
	}
	return err
}

// addTag adds a group's tag, once.
func (a *API) addTag(name string) {
	if name != "" && !slices.ContainsFunc(a.doc.Tags, func(t *huma.Tag) bool { return t.Name == name }) {
		a.doc.Tags = append(a.doc.Tags, &huma.Tag{Name: name})
	}
}

// stepUpNote is added to the description of a sensitive operation.
const stepUpNote = " A caller with a second factor must have proved it in the session within the last 10 minutes, by " +
	"log-in or by POST /auth/refresh with otp; else 403."

// describe completes the description of an operation beyond its input. It is not generic: with generic code for each
// operation it would be a tenth of a large group's size.
func (o *operation) describe(api huma.API, hop *huma.Operation) {
	op, r := &o.Op, api.OpenAPI().Components.Schemas
	hop.Responses = map[string]*huma.Response{strconv.Itoa(op.Status): {
		Description: http.StatusText(op.Status), Content: o.successContent(r),
	}}
	if op.Later != nil {
		hop.Responses[strconv.Itoa(http.StatusAccepted)] = &huma.Response{
			Description: http.StatusText(http.StatusAccepted),
			Content:     dataContent(r.Schema(reflect.TypeOf(op.Later), true, op.ID+"Job")),
		}
	}
	if plan := o.planOf(); plan != nil {
		hop.Responses[strconv.Itoa(http.StatusOK)] = &huma.Response{
			Description: "The plan of a dry run", Content: dataContent(r.Schema(plan, true, op.ID+"Plan")),
		}
	}
	o.describeBrowsed(hop)
	hop.Extensions["x-policy"] = op.policyLabel()
	if op.Session {
		hop.Extensions["x-session"] = true // the access token of a session only, no personal access token
	}
	if op.StepUp {
		hop.Extensions["x-step-up"] = true // a second factor, proved within the last minutes, if the user has one
		hop.Description += stepUpNote
	}
	if op.Console {
		hop.Extensions["x-console"] = true // a page or a file for browsers: generators of clients leave it out
	}
	if op.Method == http.MethodPost {
		hop.Parameters = append(hop.Parameters, op.idempotencyKey())
	}
	if op.Public {
		hop.Security = []map[string][]string{}
	}
	o.describeFailures(r, hop)
	o.describeTotal(hop)
	o.describeCatalogue(hop)
	describeExport(o.input, op, hop)
	describeSelection(o.input, hop)
}

func (o *operation) successContent(r huma.Registry) map[string]*huma.MediaType {
	if o.output == reflect.TypeFor[Raw]() {
		content := map[string]*huma.MediaType{}
		for _, produced := range o.contentTypes() {
			content[mediaType(produced)] = &huma.MediaType{}
		}
		return content
	}
	data, content := o.data(), map[string]*huma.MediaType{}
	if _, ok := reflect.TypeAssert[drawn](reflect.Zero(o.output)); ok {
		content[SVGType] = &huma.MediaType{}
	}
	if o.planOf() != nil {
		data = reflect.TypeFor[Job]()
	}
	maps.Copy(content, dataContent(r.Schema(data, true, o.ID+"Data")))
	return content
}

// mediaType returns a content type without its parameters.
func mediaType(contentType string) string {
	kind, _, _ := strings.Cut(contentType, ";")
	return kind
}

// dataContent is an envelope around data.
func dataContent(data *huma.Schema) map[string]*huma.MediaType {
	return map[string]*huma.MediaType{contentJSON: {Schema: &huma.Schema{
		Type: huma.TypeObject, Required: []string{"data"}, Properties: map[string]*huma.Schema{"data": data},
	}}}
}

// describeFailures documents the declared statuses and those that follow from the declaration, each in its layer's
// format.
func (o *operation) describeFailures(r huma.Registry, hop *huma.Operation) {
	for _, code := range o.failures(takesInput(o.input)) {
		e := errorForStatus(&o.Op, code, "")
		kind := contentJSON
		if f, ok := e.(huma.ContentTypeFilter); ok {
			kind = f.ContentType(kind)
		}
		hop.Responses[strconv.Itoa(code)] = &huma.Response{
			Description: http.StatusText(code),
			Content:     map[string]*huma.MediaType{kind: {Schema: r.Schema(reflect.TypeOf(e), true, "")}},
		}
		if strings.HasPrefix(o.Produces, "text/html") { // operations with pages also answer failures with pages
			hop.Responses[strconv.Itoa(code)].Content["text/html"] = &huma.MediaType{}
		}
	}
}

// failures returns the failure statuses of op.
func (op *Op) failures(input bool) []int {
	codes := append(slices.Clone(op.Statuses), http.StatusInternalServerError)
	if !op.Public {
		codes = append(codes, http.StatusUnauthorized, http.StatusTooManyRequests)
	}
	if op.Policy != "" || op.Session || op.StepUp || op.Worker != "" {
		codes = append(codes, http.StatusForbidden)
	}
	if op.Method == http.MethodPost {
		codes = append(codes, http.StatusBadRequest, http.StatusConflict)
	}
	if input {
		codes = append(codes, http.StatusBadRequest)
	}
	return codes
}

// takesInput reports whether an input has a query, a header or a body, so that it may be invalid. A wrong path is 404.
func takesInput(input reflect.Type) bool {
	for _, f := range reflect.VisibleFields(input) {
		if f.Name == "Body" || f.Name == "RawBody" || f.Tag.Get("query") != "" || f.Tag.Get("header") != "" {
			return true
		}
	}
	return false
}

// How a POST treats the header Idempotency-Key.
const (
	replays = "1 to 255 printable characters. Within 24 hours the same key, caller, path and body get the first " +
		"answer again; " +
		"another body, or a repeat while the first still runs, gets 409."
	replaysWithout = " A repeat gets %s empty: it is shown once."
	ignoresKey     = "Ignored: this operation issues credentials, and a repeat must not get them again."
)

// idempotencyKey documents the header that every POST accepts.
func (op *Op) idempotencyKey() *huma.Param {
	least, most := 1, 255
	p := &huma.Param{
		Name: keyHeader, In: "header", Description: replays,
		Schema: &huma.Schema{Type: huma.TypeString, MinLength: &least, MaxLength: &most},
	}
	switch {
	case op.Credentials:
		p.Description = ignoresKey
	case op.ShownOnce != "":
		p.Description = replays + fmt.Sprintf(replaysWithout, op.ShownOnce)
	}
	return p
}

// JSON returns the description as JSON.
func (a *API) JSON() []byte {
	b, err := json.Marshal(a.doc)
	if err != nil { // it consists of parts that Mount accepted
		panic(fmt.Sprintf("rest: encode the interface description: %v", err))
	}
	return b
}

// YAML returns the description in an order for readers: general information, paths, schemas. The order depends only on
// the content.
func (a *API) YAML() []byte {
	parts := map[string]json.RawMessage{}
	if err := json.Unmarshal(a.JSON(), &parts); err != nil {
		panic(fmt.Sprintf("rest: read the interface description: %v", err))
	}
	var buf bytes.Buffer
	for _, name := range []string{"openapi", "info", "security", "tags", "paths", "components"} {
		part, err := json.Marshal(map[string]json.RawMessage{name: parts[name]})
		if err == nil && parts[name] != nil {
			err = yaml.Convert(&buf, bytes.NewReader(part))
		}
		if err != nil {
			panic(fmt.Sprintf("rest: write %s of the interface description: %v", name, err))
		}
	}
	return buf.Bytes()
}

// YAML returns a JSON document as YAML, with its members in the same order.
func YAML(document []byte) ([]byte, error) {
	var buf bytes.Buffer
	err := yaml.Convert(&buf, bytes.NewReader(document))
	return buf.Bytes(), err
}
