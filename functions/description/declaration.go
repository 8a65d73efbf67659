package description

import (
	"lamplighter.dev/shared/api/platform"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:    "description",
	Samples: []string{"get-health"},
}
