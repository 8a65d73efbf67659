package rest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/validation"
)

// Parts of the messages of an invalid request. explainError recognizes messages by them.
const (
	missing    = " is missing"
	oneOf      = "it must be one of "
	orMore     = " or more"
	orLess     = " or less"
	characters = " characters"
	items      = " items"
)

// The messages replace those of huma. They say the rule as a sentence about the member that precedes them.
func init() {
	validation.MsgExpectedRequiredProperty = "%s" + missing
	validation.MsgExpectedOneOf = oneOf + "%s" // quotation marks are only for parts of the request
	validation.MsgExpectedString = "it must be a string"
	validation.MsgExpectedBoolean = "it must be true or false"
	validation.MsgExpectedNumber = "it must be a number"
	validation.MsgExpectedInteger = "it must be a whole number"
	validation.MsgExpectedArray = `it must be a list, as ["a"]`
	validation.MsgExpectedObject = "it must be an object"
	validation.MsgExpectedMinimumNumber = "it must be %v" + orMore
	validation.MsgExpectedMaximumNumber = "it must be %v" + orLess
	validation.MsgExpectedMinLength = "it must have %d" + orMore + characters
	validation.MsgExpectedMaxLength = "it must have %d or fewer" + characters
	validation.MsgExpectedMinItems = "it must have %d" + orMore + items
	validation.MsgExpectedMaxItems = "it must have %d or fewer" + items
	validation.MsgExpectedBePattern = "it must be %s"
	validation.MsgExpectedMatchPattern = "it must match the pattern %s"
}

// explainAll returns the reasons why inputs are wrong, as many as fit with their names and values into maxQuoted.
func explainAll(errs []error) string {
	var parts []string
	quoted, more := 0, 0
	for _, err := range errs {
		if err == nil {
			continue
		}
		part, n := explainError(err)
		if quoted += n; quoted > maxQuoted && len(parts) > 0 {
			more++
			continue
		}
		parts = append(parts, part)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// explainError returns the reason why an input is wrong, and how many bytes of the request it quotes: the name, which
// may be the client's, and the value if it is part of the address.
func explainError(err error) (text string, quoted int) {
	d, ok := errors.AsType[*huma.ErrorDetail](err)
	if !ok {
		return err.Error(), 0
	}
	message := strings.TrimPrefix(d.Message, "invalid value: ") // it precedes the message of a type of this package
	part, name, _ := strings.Cut(d.Location, ".")
	if member, ok := strings.CutSuffix(message, missing); ok && part == "body" {
		name, message = strings.TrimPrefix(name+"."+member, "."), "it"+missing
	}
	name = clipText(name, maxName)
	switch {
	case name == "":
		return d.Location + ": " + message, 0
	case part == "body":
		value := describeMember(message, d.Value)
		return name + ": " + message + value, len(name) + len(value)
	case d.Value == nil, d.Value == "":
		return name + ": " + message, len(name)
	}
	value := fmt.Sprintf("%.64q", fmt.Sprint(d.Value))
	return name + ": " + message + ", got " + value, len(name) + len(value)
}

// maxName is how many bytes of a member's path an error shows.
const maxName = 100

// describeMember returns what was sent for a member of a body, as far as the message is about a length, a number or a
// choice. It quotes nothing else, because a body may contain secrets.
func describeMember(message string, value any) string {
	switch v := value.(type) {
	case string:
		if strings.HasSuffix(message, characters) {
			return fmt.Sprint(", got ", utf8.RuneCountInString(v))
		}
		if strings.HasPrefix(message, oneOf) {
			return fmt.Sprintf(", got %.64q", v)
		}
	case []any:
		if strings.HasSuffix(message, items) {
			return fmt.Sprint(", got ", len(v))
		}
	case float64:
		if strings.HasSuffix(message, orMore) || strings.HasSuffix(message, orLess) {
			b, _ := json.Marshal(v) // numbers of JSON can always be encoded
			return ", got " + string(b)
		}
	}
	return ""
}
