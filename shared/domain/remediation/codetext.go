package remediation

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// named is a value with the names of the tools.
type named struct {
	codeName
	value string
}

// namedValues returns the values of a change that a tool has names for, in the order of their names. A value without
// a name is noted.
func (p *CodePatch) namedValues(s PatchSubject, has func(codeName) bool) []named {
	var out []named
	for _, value := range slices.Sorted(maps.Keys(s.After)) {
		n, known := codeNames()[[2]string{s.Type, value}]
		if !known || !has(n) {
			p.Notes = append(p.Notes, "set "+value+" to "+s.After[value]+": its name there is not known")
			continue
		}
		out = append(out, named{n, n.text(s.After[value])})
	}
	return out
}

// writeTemplate writes the resources of a CloudFormation template with the properties to set.
func (p *CodePatch) writeTemplate(o CodeOwner, s PatchSubject) {
	byType := map[string]map[string]any{}
	for _, v := range p.namedValues(s, func(n codeName) bool { return n.property != "" }) {
		if byType[v.cfn] == nil {
			byType[v.cfn] = map[string]any{}
		}
		byType[v.cfn][v.property] = literalOf(v.value)
	}
	if len(byType) == 0 {
		return
	}
	resources := map[string]any{}
	for i, of := range slices.Sorted(maps.Keys(byType)) {
		id := cmpOr(o.Part, "LOGICAL_ID")
		if i > 0 { // another resource than the one of the tag
			id = "LOGICAL_ID_" + strconv.Itoa(i+1)
		}
		resources[id] = map[string]any{"Type": of, "Properties": byType[of]}
	}
	b, err := json.MarshalIndent(map[string]any{"Resources": resources}, "", "  ")
	if err != nil {
		return // texts and numbers always encode
	}
	p.Format, p.Text = "json", string(b)
}

// writeBlocks writes Terraform's blocks with the arguments to set.
func (p *CodePatch) writeBlocks(s PatchSubject) {
	byResource := map[string]tree{}
	for _, v := range p.namedValues(s, func(n codeName) bool { return n.argument != "" }) {
		if byResource[v.resource] == nil {
			byResource[v.resource] = tree{}
		}
		byResource[v.resource].put(v.argument, v.value)
	}
	var b strings.Builder
	for _, resource := range slices.Sorted(maps.Keys(byResource)) {
		b.WriteString("resource " + strconv.Quote(resource) + ` "NAME" { # ` + oneLine(s.UID) + "\n")
		byResource[resource].writeHCL(&b, "  ")
		b.WriteString("}\n")
	}
	if b.Len() > 0 {
		p.Format, p.Text = "hcl", b.String()
	}
}

// writeManifest writes a merge patch of a Kubernetes object.
func (p *CodePatch) writeManifest(o CodeOwner, s PatchSubject) {
	all := tree{}
	for _, v := range p.namedValues(s, func(n codeName) bool { return n.manifest != "" }) {
		all.put(v.manifest, v.value)
	}
	if len(all) == 0 {
		return
	}
	var b strings.Builder
	b.WriteString("# " + s.Type + " " + oneLine(s.UID) + "\n")
	all.writeYAML(&b, "")
	p.Format, p.Text = "yaml", b.String()
	if o.Tool == "helm" {
		p.Notes = append(p.Notes, "set the values of the chart from which it renders these fields")
	}
}

// tree is nested fields: a tree or a text below each name.
type tree map[string]any

// put sets the value at a path with dots.
func (t tree) put(path, value string) {
	name, rest, nested := strings.Cut(path, ".")
	if !nested {
		t[name] = value
		return
	}
	under, is := t[name].(tree)
	if !is {
		under = tree{}
		t[name] = under
	}
	under.put(rest, value)
}

func (t tree) writeHCL(b *strings.Builder, indent string) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if under, is := t[name].(tree); is {
			b.WriteString(indent + name + " {\n")
			under.writeHCL(b, indent+"  ")
			b.WriteString(indent + "}\n")
			continue
		}
		value, _ := t[name].(string)
		b.WriteString(indent + name + " = " + literalText(noTemplate.Replace(value)) + "\n")
	}
}

func (t tree) writeYAML(b *strings.Builder, indent string) {
	for _, name := range slices.Sorted(maps.Keys(t)) {
		if under, is := t[name].(tree); is {
			b.WriteString(indent + name + ":\n")
			under.writeYAML(b, indent+"  ")
			continue
		}
		value, _ := t[name].(string)
		b.WriteString(indent + name + ": " + literalText(value) + "\n")
	}
}

// literalOf returns a value as JSON has it: a number, a bool or a text.
func literalOf(value string) any {
	if value == "true" || value == "false" {
		return value == "true"
	}
	if _, err := strconv.ParseFloat(value, 64); err == nil && json.Valid([]byte(value)) {
		return json.Number(value)
	}
	return value
}

// noTemplate keeps HCL from evaluating a text.
var noTemplate = strings.NewReplacer("${", "$${", "%{", "%%{")

// literalText returns a literal of HCL or YAML.
func literalText(value string) string {
	if _, is := literalOf(value).(string); is {
		b, _ := json.Marshal(value) // a text always encodes
		return string(b)
	}
	return value
}

// oneLine returns a text that fits into a comment.
func oneLine(text string) string {
	return strings.Map(func(c rune) rune {
		if isControl(c) {
			return ' '
		}
		return c
	}, text)
}
