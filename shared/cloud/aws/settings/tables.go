package settings

import (
	"slices"

	"lamplighter.dev/shared/cloud/definition"
)

// kinds returns the kinds that are changed. A new one is an entry of a table and an entry of the catalogue.
func kinds() []kind {
	return slices.Concat(computeKinds(), databaseKinds(), tableKinds(), storageKinds(), clusterKinds(), serviceKinds())
}

// setBy makes a value that one call sets.
func setBy(c call, v definition.Value) value { return value{Value: v, calls: map[string]call{"": c}} }

// switched makes a value with a call for each of its texts.
func switched(v definition.Value, calls map[string]call) value { return value{Value: v, calls: calls} }

func text(name, path, write string) definition.Value {
	return definition.Value{Name: name, Path: path, Write: write}
}

func number(name, path, write string) definition.Value {
	return definition.Value{Name: name, Path: path, Write: write, Number: true}
}

func flag(name, path, write string) definition.Value {
	return definition.Value{Name: name, Path: path, Write: write, Bool: true}
}

// orElse gives a value a text for a definition that does not have it.
func orElse(v definition.Value, text string) definition.Value {
	v.Or = text
	return v
}

// words gives a value that is true or false two words of AWS.
func words(v definition.Value, on, off string) definition.Value {
	v.On, v.Off, v.Bool = on, off, false
	return v
}

// limited gives a value an effect that its undo does not give back.
func limited(v value, limit string) value {
	v.limit = limit
	return v
}
