package platform

// CalledFor is for the tests outside of this package.
var CalledFor = calledFor
