package oauthlogin_test

import (
	"testing"

	"lamplighter.dev/shared/foundation/clock"
	"lamplighter.dev/shared/testkit/npmpeer"
	"lamplighter.dev/shared/testkit/oauthlogintest"
)

func TestACertifiedProviderKeepsTheContract(t *testing.T) {
	npmpeer.SkipUnlessWanted(t)
	const back = "https://lamplighter.test/auth/google/callback"
	contract(t, oauthlogintest.NewCertified(t, back), oauthlogintest.NewCertified(t, back), clock.System{})
}
