// Package stacks reads the templates of the deployed service: template.yaml is the root, and its children
// infra/stacks/*.yaml hold the functions, the state machines and the schedules.
package stacks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"
)

// Root is the path of the root's template. Shared is the path of the text that its children have in common.
const (
	Root   = "template.yaml"
	Shared = "infra/shared.yaml"
)

// File is a template: its path below the repository, and its text.
type File struct {
	Path string
	Text []byte
}

// Name returns the name of the stack: "people" for infra/stacks/people.yaml, and "template" for the root.
func (f File) Name() string { return strings.TrimSuffix(filepath.Base(f.Path), ".yaml") }

// ID returns the id of the stack among the resources of the root: "People" for infra/stacks/people.yaml.
func (f File) ID() string { return strings.ToUpper(f.Name()[:1]) + f.Name()[1:] }

// Read returns the templates of the repository at root: the root's first, then its children by name.
func Read(root string) ([]File, error) {
	children, err := filepath.Glob(filepath.Join(root, "infra", "stacks", "*.yaml"))
	if err != nil {
		return nil, fmt.Errorf("list the templates of the nested stacks: %w", err)
	}
	out := []File{}
	for _, path := range append([]string{filepath.Join(root, Root)}, children...) {
		text, err := os.ReadFile(path) //nolint:gosec // the operator names the repository
		if err != nil {
			return nil, fmt.Errorf("read a template: %w", err)
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return nil, fmt.Errorf("read a template: %w", err)
		}
		out = append(out, File{filepath.ToSlash(name), text})
	}
	return out, nil
}

// ReadResources returns the resources of all templates by their ids, which are unique across them. Each intrinsic
// function is its argument: "Table.Arn" of !GetAtt Table.Arn.
func ReadResources[T any](root string) (map[string]T, error) {
	files, err := Read(root)
	if err != nil {
		return nil, err
	}
	out := map[string]T{}
	for _, f := range files {
		var doc struct {
			Resources map[string]T `yaml:"Resources"`
		}
		if err = yaml.Unmarshal(f.Text, &doc); err != nil {
			return nil, fmt.Errorf("parse %s: %w", f.Path, err)
		}
		for id, r := range doc.Resources {
			if _, there := out[id]; there {
				return nil, fmt.Errorf("%s has the resource %s, which another template has too", f.Path, id)
			}
			out[id] = r
		}
	}
	return out, nil
}

// sized is the part of a function with its memory size.
type sized struct {
	CodeURI    string `yaml:"CodeUri"`
	MemorySize int    `yaml:"MemorySize"`
}

// ReadSizes returns the memory of each function in MB, by the name of its folder.
func ReadSizes(root string) (map[string]int, error) {
	resources, err := ReadResources[struct {
		Properties sized `yaml:"Properties"`
	}](root)
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(root, Shared)) //nolint:gosec // the operator names the repository
	if err != nil {
		return nil, fmt.Errorf("read what the stacks share: %w", err)
	}
	var shared struct {
		Globals struct {
			Function sized `yaml:"Function"`
		} `yaml:"Globals"`
	}
	if err = yaml.Unmarshal(text, &shared); err != nil {
		return nil, fmt.Errorf("parse %s: %w", Shared, err)
	}
	out := map[string]int{}
	for _, r := range resources {
		if folder, ok := ParseFolder(r.Properties.CodeURI); ok {
			if out[folder] = r.Properties.MemorySize; out[folder] == 0 {
				out[folder] = shared.Globals.Function.MemorySize
			}
		}
	}
	return out, nil
}

// ParseFolder returns the folder in functions/ that a CodeUri names, and false for a resource without code of this
// module.
func ParseFolder(codeURI string) (string, bool) { return strings.CutPrefix(codeURI, "../../build/") }
