package gcp

import (
	"context"
	"encoding/json"

	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/gcp/googlerest"
)

// maxPages bounds listings that are read to their end at once.
const maxPages = 50

// kind is one kind of resource: its description, the form of its resource names, and its calls. The functions get at
// most as many resources as the kind's batches allow.
type kind struct {
	cloud.Kind
	service    string // the API in its resources' names: "compute.googleapis.com"
	collection string // the last but one part of a resource's name: "instances"
	needs      needs
	list       func(ctx context.Context, p place, page string) (cloud.ResourcePage, error)
	read       func(ctx context.Context, p place, refs []ref) ([]cloud.State, error)
	act        func(ctx context.Context, p place, v cloud.Verb, targets []target) []error
	scale      func(ctx context.Context, p place, r ref, want cloud.Capacity) error // nil for a kind without sizes
	// as cloud.Autoscaler has them; nil for a kind that Google does not scale
	readAutoscaling func(ctx context.Context, p place, r ref) (cloud.Autoscaling, error)
	setAutoscaling  func(ctx context.Context, p place, r ref, want cloud.Autoscaling) error
}

// needs are the permissions of each capability. The first of discover is the one that a listing begins with.
type needs struct{ discover, startStop, scale []string }

// place is a region of an account.
type place struct {
	*session
	region string
}

// target is a resource to act on, with the snapshot of the stop.
type target struct {
	ref
	snapshot json.RawMessage
}

// catalogueKind takes a kind's description from the catalogue, which API functions read without this package.
func catalogueKind(kind string) cloud.Kind {
	k, _ := cloud.KindOf(kind)
	return k
}

// eachPage reads a listing to its end. The caller takes each page, returns the token of the next, and bounds the
// listing by an error.
func eachPage[T any](ctx context.Context, s *session, r *googlerest.Request,
	take func(*T) (next string, err error),
) error {
	for {
		out, err := call[T](ctx, s, r)
		if err != nil {
			return err
		}
		next, err := take(out)
		if err != nil || next == "" {
			return err
		}
		r.Set("pageToken", next)
	}
}

// readOneByOne makes the read function of a kind from one that reads a single resource. Resources that do not exist
// are left out.
func readOneByOne(read func(ctx context.Context, p place, r ref) (cloud.State, error)) func(context.Context, place,
	[]ref) ([]cloud.State, error) {
	return func(ctx context.Context, p place, refs []ref) ([]cloud.State, error) {
		var states []cloud.State
		for _, r := range refs {
			s, err := read(ctx, p, r)
			if isGone(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			states = append(states, s)
		}
		return states, nil
	}
}

// actOneByOne makes the act function of a kind from one that acts on a single resource.
func actOneByOne(act func(ctx context.Context, p place, v cloud.Verb, t target) error) func(context.Context, place,
	cloud.Verb, []target) []error {
	return func(ctx context.Context, p place, v cloud.Verb, targets []target) []error {
		errs := make([]error, len(targets))
		for i, t := range targets {
			errs[i] = act(ctx, p, v, t)
		}
		return errs
	}
}
