package kubernetes

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lamplighter.dev/shared/cloud"
)

// within adds a check to a value.
func (v changedValue) within(check func(context.Context, *objectChange, string) ([]string, error)) changedValue {
	v.check = check
	return v
}

// word is a text in one field. Without words each text is accepted; or is the value of an object without the field.
func word(name string, at path, or string, words ...string) changedValue {
	return changedValue{
		name: name, fields: []path{at},
		read: func(k *objectChange) string { return firstOf(k.now.text(at...), or) },
		write: func(_ *objectChange, d document, text string) error {
			if len(words) > 0 && !slices.Contains(words, text) {
				return cloud.ErrInvalid("%s %.40q is none of %s", name, text, strings.Join(words, ", "))
			}
			d.put(text, at...)
			return nil
		},
	}
}

// asFlag makes a text a value that is "true" for one word and "false" for all others.
func (v changedValue) asFlag(yes, no string) changedValue {
	at := v.fields[0]
	v.read = func(k *objectChange) string { return strconv.FormatBool(k.now.text(at...) == yes) }
	v.write = func(_ *objectChange, d document, text string) error {
		on, err := strconv.ParseBool(text)
		if err != nil {
			return cloud.ErrInvalid("%s %.40q is neither true nor false", v.name, text)
		}
		d.put(map[bool]string{true: yes, false: no}[on], at...)
		return nil
	}
	return v
}

// flag is a boolean in one field, which is false when it is missing.
func flag(name string, at path) changedValue {
	return changedValue{
		name: name, fields: []path{at},
		read: func(k *objectChange) string { return strconv.FormatBool(k.now.at(at...) == true) },
		write: func(_ *objectChange, d document, text string) error {
			on, err := strconv.ParseBool(text)
			if err != nil {
				return cloud.ErrInvalid("%s %.40q is neither true nor false", name, text)
			}
			d.put(on, at...)
			return nil
		},
	}
}

// number is a whole number in one field; or is the value of an object without it.
func number(name string, at path, or string, least int64) changedValue {
	return changedValue{
		name: name, fields: []path{at},
		read: func(k *objectChange) string {
			if n, is := k.now.at(at...).(int64); is {
				return strconv.FormatInt(n, 10)
			}
			return or
		},
		write: func(_ *objectChange, d document, text string) error {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < least {
				return cloud.ErrInvalid("%s %.40q is no whole number of %d or more", name, text, least)
			}
			d.put(n, at...)
			return nil
		},
	}
}

// checkMinimum refuses a minimum of an autoscaler above its maximum.
func checkMinimum(_ context.Context, k *objectChange, text string) ([]string, error) {
	if n, err := strconv.ParseInt(text, 10, 32); err == nil && n > k.o.Spec.MaxReplicas {
		return nil, cloud.ErrUnsupported("its maximum is %d: raise that first", k.o.Spec.MaxReplicas)
	}
	return nil, nil
}

// checkMaximum refuses a maximum below the minimum, and one above what is scaled to here.
func checkMaximum(_ context.Context, k *objectChange, text string) ([]string, error) {
	least := specOf(k.o).minReplicas()
	n, err := strconv.ParseInt(text, 10, 32)
	if err == nil && (n < least || n > mostReplicas) {
		return nil, cloud.ErrInvalid("max_replicas %d is not from its minimum %d to %d", n, least, mostReplicas)
	}
	return nil, nil
}

// cpuTarget is the target of CPU use of an autoscaler, in percent of the requests; 0 for an autoscaler without one.
func cpuTarget() changedValue {
	return changedValue{
		name: "target_cpu_pct", fields: []path{{"spec", "metrics"}},
		read: func(k *objectChange) string {
			if n := specOf(k.o).cpuTarget(); n != nil {
				return strconv.FormatInt(*n, 10)
			}
			return "0"
		},
		write: func(_ *objectChange, d document, text string) error {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 1 {
				return cloud.ErrInvalid("target_cpu_pct %.40q is no whole number of 1 or more", text)
			}
			for _, m := range d.items("spec", "metrics") {
				if isCPU(map[string]any(m)) {
					m.put(n, "resource", "target", "averageUtilization")
					return nil
				}
			}
			return cloud.ErrUnsupported("it has no target of CPU use")
		},
	}
}

// disruptions is the number of pods that a budget lets be disrupted, by its definition; 0 for one that says how many
// must stay.
func disruptions() changedValue {
	return changedValue{
		name: "disruptions_allowed", fields: []path{{"spec", "maxUnavailable"}, {"spec", "minAvailable"}},
		read: func(k *objectChange) string {
			n, _ := k.now.at("spec", "maxUnavailable").(int64)
			return strconv.FormatInt(n, 10)
		},
		write: func(_ *objectChange, d document, text string) error {
			n, err := strconv.ParseInt(text, 10, 32)
			if err != nil || n < 1 {
				return cloud.ErrInvalid("disruptions_allowed %.40q is no whole number of 1 or more", text)
			}
			d.put(n, "spec", "maxUnavailable")
			d.put(nil, "spec", "minAvailable")
			return nil
		},
	}
}

// labelText matches the values that labels may have.
var labelText = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)

// ownerLabel is the label that names the owner of a namespace. Other labels that do stay.
func ownerLabel() changedValue {
	at := path{"metadata", "labels", ownerKeys[0]}
	return changedValue{
		name: "owner_label", fields: []path{at},
		read: func(k *objectChange) string { s, _ := k.o.namespaceFacts()["owner_label"].(string); return s },
		write: func(_ *objectChange, d document, text string) error {
			if !labelText.MatchString(text) {
				return cloud.ErrInvalid("owner_label %.64q is no value of a label: 1 to 63 letters, digits, dots, "+
					"dashes and underscores", text)
			}
			d.put(text, at...)
			return nil
		},
	}
}

// shortText returns a number as a text without zeros at its end.
func shortText(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
