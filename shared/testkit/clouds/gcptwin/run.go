package gcptwin

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Service is a Cloud Run service.
type Service struct {
	Name, Region     string
	Mode             string // "MANUAL", else it is automatic
	Manual, Min, Max int64
	RevisionMin      int64
	Revisions        int // that were made by changes of the template
	Labels           map[string]string
	Annotations      map[string]string
	Reconciling      bool
	Failed           string // why the newest revision did not come up
	etag             int
}

// UID is the full name of the service.
func (s *Service) UID() string { return "//run.googleapis.com/" + s.path() }

func (s *Service) path() string {
	return "projects/" + Project + "/locations/" + s.Region + "/services/" + s.Name
}

// AddService adds a service.
func (c *Cloud) AddService(s Service) *Service {
	c.ChangeLocked(func() { c.services = append(c.services, &s) })
	return &s
}

func (s *Service) render() map[string]any {
	mode := s.Mode
	if mode == "" {
		mode = "AUTOMATIC"
	}
	state := map[string]any{"type": "Ready", "state": "CONDITION_SUCCEEDED"}
	if s.Failed != "" {
		state = map[string]any{
			"type": "Ready", "state": "CONDITION_FAILED", "reason": "HEALTH_CHECK_CONTAINER_ERROR",
			"message": s.Failed,
		}
	}
	return map[string]any{
		"name": s.path(), "labels": s.Labels, "annotations": s.Annotations, "createTime": "2026-03-01T16:00:00Z",
		"etag":        strconv.Itoa(s.etag),
		"reconciling": s.Reconciling, "terminalCondition": state,
		"scaling": map[string]any{
			"scalingMode": mode, "manualInstanceCount": s.Manual, "minInstanceCount": s.Min,
			"maxInstanceCount": s.Max,
		},
		"template": map[string]any{"scaling": map[string]any{"minInstanceCount": s.RevisionMin}},
	}
}

// listServices denies a place where Cloud Run is not, as it does.
func (c *Cloud) listServices(q request) (any, *failure) {
	if q.args[1] == "us-central1" {
		return nil, newFailure(http.StatusForbidden, "PERMISSION_DENIED", "Permission denied on "+
			"'locations/us-central1' (or it may not exist).")
	}
	var found []any
	for _, s := range c.services {
		if s.Region == q.args[1] {
			found = append(found, s.render())
		}
	}
	from, to, next := c.cutPage(q, len(found), "pageSize")
	return map[string]any{"services": found[from:to], "nextPageToken": next}, nil
}

func (c *Cloud) service(q request) (*Service, *failure) {
	n := slices.IndexFunc(c.services, func(s *Service) bool { return s.Region == q.args[1] && s.Name == q.args[2] })
	if n < 0 {
		return nil, newFailure(
			http.StatusNotFound, "NOT_FOUND", "Resource '%s' of kind 'SERVICE' does not exist.", q.args[2])
	}
	return c.services[n], nil
}

func (c *Cloud) getService(q request) (any, *failure) {
	s, f := c.service(q)
	if f != nil {
		return nil, f
	}
	return s.render(), nil
}

// patchService changes the fields of the mask, if the request has the present version. Without a mask it replaces
// everything.
func (c *Cloud) patchService(q request) (any, *failure) {
	s, f := c.service(q)
	if f != nil {
		return nil, f
	}
	if e, ok := q.body["etag"].(string); ok && e != strconv.Itoa(s.etag) {
		return nil, newFailure(http.StatusConflict, "ABORTED", "Conflict for resource '%s': version '%s' was "+
			"specified but current version is '%d'.", s.Name, e, s.etag)
	}
	for field := range strings.SplitSeq(q.URL.Query().Get("updateMask"), ",") {
		if !s.set(field, q.body) {
			return nil, newFailure(http.StatusBadRequest, "INVALID_ARGUMENT", "updateMask: %s is not given", field)
		}
	}
	s.Reconciling = true
	s.etag++
	return map[string]any{"name": "projects/" + Project + "/locations/" + s.Region + "/operations/o-1", "done": false},
		nil
}

// set takes a field that the mask names from the body; false when it is not there.
func (s *Service) set(field string, body map[string]any) bool {
	if field == "annotations" {
		s.Annotations = map[string]string{}
		for k, v := range objectOf(body, "annotations") {
			s.Annotations[k], _ = v.(string)
		}
		return true
	}
	to, known := map[string]*int64{
		"scaling.manualInstanceCount": &s.Manual, "scaling.minInstanceCount": &s.Min,
		"scaling.maxInstanceCount": &s.Max,
	}[field]
	n, ok := numberOf(objectOf(body, "scaling"), field[strings.LastIndex(field, ".")+1:])
	if known && ok {
		*to = n
	}
	return known && ok
}
