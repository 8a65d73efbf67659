// Command bootstraps builds the programs of functions by one `go build`:
// `go run ./.ci/bootstraps -o folder [function…]`. Each program is named after its function and lies in the folder. It
// builds all functions unless some are named. GOFLAGS is that of the environment; -for names another machine than this
// one. With -layout it also links each program as <layout>/<function>/bootstrap, which is where template.yaml looks for
// it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// mains is the folder that holds one package for each function. It exists in the overlay alone: one `go build` names
// its programs after the folders of their packages, and the folders of all functions are named lambda.
const mains = "build/mains"

// bare is a program of the benchmark of starts, not a function: the least that a Lambda on DynamoDB can be.
const bare = "events/testdata/bare/main.go"

func main() {
	out := flag.String("o", "build/host", "the `folder` of the programs")
	layout := flag.String("layout", "", "the `folder` that gets <function>/bootstrap for each program")
	machine := flag.String("for", "", "the `GOOS/GOARCH` of the programs; \"\" is this machine's")
	flag.Parse()
	b := builder{out: *out, layout: *layout, machine: *machine}
	if err := b.build(flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "build bootstraps:", err)
		os.Exit(1)
	}
}

// builder is the destination and the target machine of a build.
type builder struct{ out, layout, machine string }

// build builds the named functions, or all, in the repository that is the working directory.
func (b builder) build(names []string) error {
	programs, err := findPrograms()
	if err != nil {
		return err
	}
	for _, n := range names {
		if len(programs[n]) == 0 {
			return fmt.Errorf("there is no function %q: functions/%s/lambda has no Go files", n, n)
		}
	}
	if len(names) == 0 {
		for n := range programs {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	if err = b.compile(names, programs); err != nil || b.layout == "" {
		return err
	}
	return b.link(names)
}

// findPrograms returns the Go files of the program of each function, by its name.
func findPrograms() (map[string][]string, error) {
	files, err := filepath.Glob("functions/*/lambda/*.go")
	if err != nil {
		return nil, err
	}
	programs := map[string][]string{"bare": {bare}}
	for _, f := range files {
		name := filepath.Base(filepath.Dir(filepath.Dir(f)))
		programs[name] = append(programs[name], f)
	}
	return programs, nil
}

// compile runs go build.
func (b builder) compile(names []string, programs map[string][]string) error {
	overlay, err := writeOverlay(names, programs)
	if err != nil {
		return err
	}
	defer os.Remove(overlay)
	args := []string{"build", "-buildvcs=false", "-ldflags=-s -w", "-overlay", overlay, "-o", b.out + "/"}
	for _, n := range names {
		args = append(args, "./"+mains+"/"+n)
	}
	cmd := exec.Command("go", args...)
	cmd.Stdout, cmd.Stderr, cmd.Env = os.Stdout, os.Stderr, os.Environ()
	if b.machine != "" {
		goos, goarch, ok := strings.Cut(b.machine, "/")
		if !ok {
			return fmt.Errorf("-for is %q; it must be GOOS/GOARCH, such as linux/arm64", b.machine)
		}
		cmd.Env = append(cmd.Env, "GOOS="+goos, "GOARCH="+goarch)
	}
	return cmd.Run()
}

// writeOverlay writes the file for go build's -overlay and returns its path.
func writeOverlay(names []string, programs map[string][]string) (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
	replace := map[string]string{}
	for _, n := range names {
		for _, f := range programs[n] {
			replace[filepath.Join(root, mains, n, filepath.Base(f))] = filepath.Join(root, f)
		}
	}
	f, err := os.CreateTemp("", "lamplighter-overlay-*.json")
	if err != nil {
		return "", err
	}
	defer f.Close()
	return f.Name(), json.NewEncoder(f).Encode(map[string]any{"Replace": replace})
}

// link makes <layout>/<function>/bootstrap a hard link of each program. A link costs no space; go build replaces a
// program that has changed and never writes into it.
func (b builder) link(names []string) error {
	for _, n := range names {
		if n == "bare" {
			continue
		}
		at := filepath.Join(b.layout, n, "bootstrap")
		if err := os.MkdirAll(filepath.Dir(at), 0o750); err != nil {
			return err
		}
		if err := os.Remove(at); err != nil && !os.IsNotExist(err) {
			return err
		}
		if err := os.Link(filepath.Join(b.out, n), at); err != nil {
			return err
		}
	}
	return nil
}
