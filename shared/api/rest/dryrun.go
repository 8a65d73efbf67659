package rest

import (
	"net/http"
	"reflect"
)

// Rehearsable is the answer of an operation that starts a job (202), or in a dry run answers with what the job would do
// (200). The operation's Status is 202.
type Rehearsable[T any] struct {
	Job Job `json:"job"`
	// Plan is the answer of a dry run; nil for a job.
	Plan *T `json:"plan"`
}

// rehearsable is implemented by all Rehearsable types.
type rehearsable interface {
	answer() (data any, status int)
	plan() reflect.Type
}

func (r Rehearsable[T]) answer() (data any, status int) {
	if r.Plan == nil {
		return r.Job, http.StatusAccepted
	}
	return *r.Plan, http.StatusOK
}

func (r Rehearsable[T]) plan() reflect.Type { return reflect.TypeFor[T]() }

// planOf returns the type of the answer of a dry run, or nil if the operation has none.
func (o *operation) planOf() reflect.Type {
	if r, ok := reflect.TypeAssert[rehearsable](reflect.Zero(o.output)); ok {
		return r.plan()
	}
	return nil
}
