package auditlinker

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:     "auditlinker",
	Access:   audit.LinkAccess,
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
