// Package smarttags is the operation group Smart Tags: tags that are derived from what resources are, and count once they are accepted.
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
		Description: "What the policies derive for resources now, by resource and key, pending or accepted. " +
			derived + " A grant on teams or resources shows the tags of these.",
	}, s.list)
	rest.Handle(g, rest.Op{
		ID: "acceptSmartTags", Method: http.MethodPost, Path: tags + "/accept", Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Accept smart tags",
		Description: "Those that are named, or all that a policy derives now. An accepted tag counts in reports as " +
			"one of the cloud does, while it is derived with the same value; " +
			"derived with another one it is pending again. At most 20,000 are accepted in an organization.",
	}, s.accept)
	rest.Handle(g, rest.Op{
		ID: "revokeSmartTags", Method: http.MethodPost, Path: tags + "/revoke", Policy: writing,
		Statuses:    []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:     "Revoke smart tags",
		Description: "Those that are named, or all that a policy derives now: they are pending again.",
	}, s.revoke)
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
	}, s.create)
	rest.Handle(g, rest.Op{
		ID: "getSmartTagPolicy", Method: http.MethodGet, Path: one, Policy: reading, Statuses: missing,
		Summary: "Read a smart tag policy",
	}, s.get)
	rest.Handle(g, rest.Op{
		ID: "updateSmartTagPolicy", Method: http.MethodPut, Path: one, Policy: writing,
		Statuses: []int{http.StatusBadRequest, http.StatusNotFound, http.StatusConflict},
		Summary:  "Change a smart tag policy", Description: "Changes only the fields present. " + shape,
	}, s.update)
	rest.Handle(g, rest.Op{
		ID: "deleteSmartTagPolicy", Method: http.MethodDelete, Path: one, Policy: writing,
		Statuses: []int{http.StatusNotFound, http.StatusConflict},
		Summary:  "Delete a smart tag policy", Description: "Its tags are not derived any more, and end.",
	}, s.remove)
	rest.Handle(g, rest.Op{
		ID: "previewSmartTagPolicy", Method: http.MethodPost, Path: one + "/preview", Policy: reading, Reads: true,
		Statuses: missing,
		Summary:  "Preview a smart tag policy",
		Description: "What it derives now, by itself: how many resources would have which value, and the first " +
			"of them. " + derived,
	}, s.preview)
}

const (
	derived = "The first 20,000 resources that policies select are looked at, by their native ids. A tag that a " +
		"resource has in its cloud stands, and none is derived."
	shape = "A resource that the selector takes, an empty one takes all, gets a tag of the key, whose value is its " +
		"fields (res.type res.region res.provider res.instance_type res.name) with the separator between them; " +
		"empty ones are left out, and when all are empty there is no tag. Of several policies of one key the oldest " +
		"that gives a value decides. At most 50 policies an organization. Names are unique without regard to case. " +
		"Nothing is ever written to the cloud."
)

// PolicyInput names the policy of a request.
type PolicyInput struct {
	PolicyID string `path:"policyID" maxLength:"64"`
}
