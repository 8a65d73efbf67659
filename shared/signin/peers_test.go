package signin_test

import (
	"testing"

	"lamplighter.dev/shared/clock"
	"lamplighter.dev/shared/peer"
	"lamplighter.dev/shared/signin/signintest"
)

func TestACertifiedProviderKeepsTheContract(t *testing.T) {
	peer.Wanted(t)
	const back = "https://lamplighter.test/auth/google/callback"
	contract(t, signintest.NewCertified(t, back), signintest.NewCertified(t, back), clock.System{})
}
