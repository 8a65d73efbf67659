package recommender

import (
	"maps"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/recommendation"
	"lamplighter.dev/shared/domain/remediation"
)

// The values of the fact env. A resource whose tags name no environment has no such fact.
const (
	production    = "prod"
	nonproduction = "nonprod"
)

// environmentFact is the fact that says whether a resource is of production.
const environmentFact = "env"

// environmentKeys are the tag keys that name an environment, the first that is there decides.
var environmentKeys = []string{
	"env", "environment", "lamplighter:env", "lamplighter-env", "stage", "app-env", "app_env", "deployment-environment",
	"environment-type", "environment_type", "workload-environment",
}

// environmentWords are the words of a tag's value that name an environment. A word of a nonproduction environment wins
// over a word of production: "pre-prod" is none.
var environmentWords = map[string]string{
	"prod": production, "production": production, "prd": production, "live": production,

	"nonprod": nonproduction, "nonproduction": nonproduction, "non": nonproduction, "no": nonproduction,
	"preprod": nonproduction, "preproduction": nonproduction, "pre": nonproduction, "dev": nonproduction,
	"develop": nonproduction, "development": nonproduction, "test": nonproduction, "testing": nonproduction,
	"tst": nonproduction, "qa": nonproduction, "quality": nonproduction, "staging": nonproduction,
	"stage": nonproduction, "stg": nonproduction, "uat": nonproduction, "acceptance": nonproduction,
	"sandbox": nonproduction, "sbx": nonproduction, "demo": nonproduction, "preview": nonproduction,
	"integration": nonproduction, "int": nonproduction, "ci": nonproduction, "lab": nonproduction,
	"poc": nonproduction, "experimental": nonproduction, "training": nonproduction,
}

// environmentOf returns the environment that tags name, or "". Tags of the resource win over smart tags.
func environmentOf(tagSets ...map[string]string) string {
	for _, tags := range tagSets {
		for _, key := range environmentKeys {
			if env := environmentNamed(tags[key]); env != "" {
				return env
			}
		}
	}
	return ""
}

// environmentNamed returns the environment that a tag's value names, or "".
func environmentNamed(value string) string {
	if env := environmentWords[value]; env != "" || value == "" {
		return env // one word
	}
	named := ""
	words := strings.FieldsFunc(strings.ToLower(value), func(r rune) bool { return (r < 'a' || r > 'z') && r < 128 })
	for _, word := range words {
		switch environmentWords[word] {
		case nonproduction:
			return nonproduction
		case production:
			named = production
		}
	}
	return named
}

// lowerTags returns tags with their keys trimmed and in lower case, as the fact tags has them. Of keys that become
// equal, the value of the first in order stays.
func lowerTags(tagSets ...map[string]string) map[string]string {
	out := lowerDistinct(tagSets[0])
	for _, tags := range tagSets[1:] {
		addLower(out, tags)
	}
	return out
}

// code returns the code that the subject is made from, nil if its tags name none.
func (s *subject) code() *recommendation.Code {
	_, owner := remediation.ControllerOf(s.Tags)
	if owner == nil {
		return nil
	}
	return &recommendation.Code{Tool: owner.Tool, Name: owner.Name, Part: owner.Part}
}

// lowerDistinct returns one set of tags as lowerTags does. Only keys that become equal must be put into order.
func lowerDistinct(tags map[string]string) map[string]string {
	out := make(map[string]string, len(tags))
	for key, value := range tags {
		out[lowerKey(key)] = value
	}
	if len(out) < len(tags) {
		clear(out)
		addLower(out, tags)
	}
	return out
}

// addLower adds tags whose keys are not there yet.
func addLower(out, tags map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		lower := lowerKey(key)
		if _, there := out[lower]; !there {
			out[lower] = tags[key]
		}
	}
}

func lowerKey(key string) string { return strings.ToLower(strings.TrimSpace(key)) }
