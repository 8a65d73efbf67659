package passkeyverifier

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/people/passkeys"
)

// Declaration declares the name and the sample events of this function. It touches no partition and no secret.
var Declaration = platform.Declaration{Name: passkeys.Worker, Share: 4, Samples: []string{"refused"}}
