// Package providers lists the clouds that a worker can talk to. It links all their SDKs, so only workers' mains and
// cmd/lamplighter import it. The build tag "simulatedonly" leaves the SDKs out: the first stage of `make run` starts
// without them, while the whole program is compiled.
package providers

import (
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/cloud"
	"lamplighter.dev/shared/cloud/ecb"
	"lamplighter.dev/shared/cloud/simulated"
)

// New returns the providers that the operator's settings allow. A new cloud is one line in newReal.
func New(p *platform.Platform) cloud.Providers {
	all := newReal(p)
	all[ecb.Name] = ecb.New(ecb.Options{Clock: p.Clock})
	if p.Settings.Simulated {
		all[simulated.Name] = simulated.New(p.Table, p.Clock)
	}
	return all
}
