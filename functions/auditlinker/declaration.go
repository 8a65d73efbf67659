package auditlinker

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
)

// Declaration is what others must know of this function.
var Declaration = platform.Declaration{
	Name:     "auditlinker",
	Share:    1,
	Access:   audit.LinkAccess,
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
