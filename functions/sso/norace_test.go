//go:build !race

package sso

const slack = 1
