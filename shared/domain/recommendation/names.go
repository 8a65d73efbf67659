package recommendation

import "strings"

// names number the places and rules of columns. Numbers are given in the order of the first use.
type names struct {
	places  []place
	rules   []ruleName
	byPlace map[place]uint32
	byRule  map[ruleName]uint32
}

func newNames() *names {
	return &names{byPlace: map[place]uint32{}, byRule: map[ruleName]uint32{}}
}

func (n *names) placeNumber(p place) uint32 {
	i, ok := n.byPlace[p]
	if !ok {
		i = uint32(len(n.places))
		n.places, n.byPlace[p] = append(n.places, p), i
	}
	return i
}

func (n *names) ruleNumber(r ruleName) uint32 {
	i, ok := n.byRule[r]
	if !ok {
		i = uint32(len(n.rules))
		n.rules, n.byRule[r] = append(n.rules, r), i
	}
	return i
}

// prefixOf returns the prefix of an id without its underscore.
func prefixOf(id string) string {
	prefix, _, _ := strings.Cut(id, "_")
	return prefix
}
