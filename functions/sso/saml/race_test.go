//go:build race

package saml

// slack is how many times longer than usual things take with the race detector.
const slack = 10
