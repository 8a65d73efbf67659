package auditlinker

import (
	"lamplighter.dev/shared/api/audit"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/people/attempts"
)

// Declaration lists the resources that this function uses.
var Declaration = platform.Declaration{
	Name:     "auditlinker",
	Secrets:  []platform.Secret{platform.PepperSecret},
	Share:    1,
	Access:   audit.LinkAccess.With(attempts.Access),
	Schedule: "rate(1 minute)",
	Samples:  []string{"schedule"},
}
