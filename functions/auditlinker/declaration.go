package auditlinker

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:     "auditlinker",
	Secrets:  []platform.Secret{platform.PepperSecret},
	Share:    1,
	Access:   audit.LinkAccess,
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
