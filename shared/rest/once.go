package rest

import (
	"lamplighter.dev/shared/identity"
)

// once runs the operation.
func (s *server) once(x *exchange, _ identity.Caller) { x.run(x) }
