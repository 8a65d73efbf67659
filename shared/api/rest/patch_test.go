package rest_test

import (
	"testing"

	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/foundation/fault"
)

func TestRefuseNull_NamesTheFirstFieldThatIsNull(t *testing.T) {
	for name, c := range map[string]struct {
		fields map[string]bool
		want   string
	}{
		"no field is null": {map[string]bool{"name": false, "enabled": false}, ""},
		"one field is null": {
			map[string]bool{"name": true, "enabled": false},
			"name: it cannot be null; leave it out to keep it",
		},
		"several are null": {
			map[string]bool{"name": true, "enabled": true},
			"enabled: it cannot be null; leave it out to keep it",
		},
		"there are no fields": {nil, ""},
		"the last one is null": {
			map[string]bool{"a": false, "z": true},
			"z: it cannot be null; leave it out to keep it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			err := rest.RefuseNull(c.fields)
			switch {
			case c.want == "" && err != nil:
				t.Errorf("the error %v; want none", err)
			case c.want != "" && (!fault.Is(err, fault.Invalid) || fault.Message(err) != c.want):
				t.Errorf("the error %v; want %s", err, c.want)
			}
		})
	}
}
