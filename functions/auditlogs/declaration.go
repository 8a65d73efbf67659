package auditlogs

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/api/rest"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:   "auditlogs",
	Access: rest.Access,
}
