// Package smarttags is the operation group Smart Tags: tags that policies derive from the attributes of resources. A
// tag counts once it is accepted.
package smarttags

import (
	"net/http"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/inventory"
	"lamplighter.dev/shared/domain/smarttag"
)

const (
	tags     = "/smart-tags"
	policies = tags + "/policies"
	one      = policies + "/{policyID}"
	reading  = "smart-tags:read"
	writing  = "smart-tags:write"
)

type service struct {
	p         *platform.Platform
	store     smarttag.Store
	inventory *inventory.Store
}

// Operations returns the operations of the group.
func Operations(p *platform.Platform) *rest.Group {
	g := rest.NewGroup("Smart Tags")
	s := &service{p, smarttag.NewStore(p.Table), inventory.New(p)}
	s.tagOperations(g)
	s.policyOperations(g)
	return g
}

var (
	invalid = []int{http.StatusBadRequest}
	missing = []int{http.StatusNotFound}
)

func (s *service) tagOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listSmartTags", Method: http.MethodGet, Path: tags, Policy: reading, Scoped: true, Statuses: invalid,
		Summary: "List smart tags",
		Description: "The tags that the policies derive from the present resources, sorted by resource and key, " +
			"pending or accepted. " +
			derived + " A caller with a grant on teams or resources sees the tags of resources in it.",
	}, s.listTags)
	rest.Handle(g, rest.Op{
		ID: "acceptSmartTags", Method: http.MethodPost, Path: tags + "/accept", Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Accept smart tags",
		Description: "Accepts the named tags, or all that a policy derives now. An accepted tag counts in reports " +
			"like a tag of the cloud while it is derived with the same value; with another value it is pending " +
			"again. At most 20,000 accepted tags an organization.",
	}, s.acceptTags)
	rest.Handle(g, rest.Op{
		ID: "revokeSmartTags", Method: http.MethodPost, Path: tags + "/revoke", Policy: writing,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:     "Revoke smart tags",
		Description: "The named tags, or all that a policy derives now, become pending again.",
	}, s.revokeTags)
}

func (s *service) policyOperations(g *rest.Group) {
	rest.Handle(g, rest.Op{
		ID: "listSmartTagPolicies", Method: http.MethodGet, Path: policies, Policy: reading,
		Summary: "List smart tag policies", Description: "All of them, oldest first. " + shape,
	}, s.listPolicies)
	rest.Handle(g, rest.Op{
		ID: "createSmartTagPolicy", Method: http.MethodPost, Path: policies, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusConflict},
		Summary:  "Create a smart tag policy", Description: shape,
	}, s.createPolicy)
	rest.Handle(g, rest.Op{
		ID: "getSmartTagPolicy", Method: http.MethodGet, Path: one, Policy: reading, Statuses: missing,
		Summary: "Read a smart tag policy",
	}, s.getPolicy)
	rest.Handle(g, rest.Op{
		ID: "updateSmartTagPolicy", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Change a smart tag policy", Description: "Changes only the fields present. " + shape,
	}, s.updatePolicy)
	rest.Handle(g, rest.Op{
		ID: "deleteSmartTagPolicy", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a smart tag policy", Description: "Its tags are no longer derived, and end.",
	}, s.deletePolicy)
	rest.Handle(g, rest.Op{
		ID: "previewSmartTagPolicy", Method: http.MethodPost, Path: one + "/preview", Policy: reading, Reads: true,
		Statuses: missing,
		Summary:  "Preview a smart tag policy",
		Description: "The tags that this policy alone derives now: the number of resources for each value, and the " +
			"first tags. " + derived,
	}, s.previewPolicy)
}

const (
	derived = "At most the first 20,000 selected resources, by native id, are read. If a resource has the tag in its " +
		"cloud, none is derived."
	shape = "Each resource that matches the selector (an empty one matches all) gets a tag with the key. Its value " +
		"is the resource's fields (res.type res.region res.provider res.instance_type res.name), joined by the " +
		"separator. Empty fields are left out; if all are empty there is no tag. If several policies have the same " +
		"key, the oldest one with a value decides. At most 50 policies an organization. Names are unique, ignoring " +
		"case. Tags are never written to the cloud."
)

// PolicyInput names the policy of a request.
type PolicyInput struct {
	PolicyID string `path:"policyID" maxLength:"64"`
}
