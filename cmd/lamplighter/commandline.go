package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// commandFlags are the flags of a command. Besides its own flags, each command has -help and -version.
type commandFlags struct {
	*flag.FlagSet
	version  *bool
	operands string // what stands besides the flags, as "FILE..."; "" for nothing
}

// newCommandFlags returns the flags of a command that takes nothing but flags, by its full name: "lamplighter keys
// rotate".
func newCommandFlags(name string) commandFlags {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // parseArgs returns errors and prints the help
	f.Usage = func() {}
	return commandFlags{FlagSet: f, version: f.Bool("version", false, "print the version, and do nothing else")}
}

// parseArgs parses the arguments of the command. It returns flag.ErrHelp after it has printed the help or the version.
// The error for a bad flag is one line. A command without operands refuses them.
func (f commandFlags) parseArgs(args []string, stdout io.Writer) error {
	err := f.parseAround(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return errors.Join(err, f.printHelp(stdout))
	case err != nil:
		return fmt.Errorf("%w: run %s -help to see the flags", err, f.Name())
	case *f.version:
		_, err = fmt.Fprintln(stdout, version)
		return errors.Join(flag.ErrHelp, err)
	case f.operands == "" && f.NArg() > 0:
		return f.errOperand()
	}
	return nil
}

// parseAround parses flags before, between and behind the operands, which Args returns then. Behind "--" everything is
// an operand.
func (f commandFlags) parseAround(args []string) error {
	var operands, rest []string
	if end := slices.Index(args, "--"); end >= 0 {
		args, rest = args[:end], args[end+1:]
	}
	for err := f.Parse(args); ; err = f.Parse(args) {
		if err != nil {
			return err
		}
		if f.NArg() == 0 {
			return f.Parse(slices.Concat([]string{"--"}, operands, rest))
		}
		operands, args = append(operands, f.Arg(0)), f.Args()[1:]
	}
}

// errOperand returns the error for the first operand of a command that has none.
func (f commandFlags) errOperand() error {
	hint := ""
	if _, err := strconv.ParseBool(f.Arg(0)); err == nil {
		hint = "; write the value of a switch behind =, as in -verbose=false"
	}
	return fmt.Errorf("%s takes flags only, not %.64q%s: run %s -help to see the flags",
		strings.TrimPrefix(f.Name(), "lamplighter "), f.Arg(0), hint, f.Name())
}

func (f commandFlags) printHelp(stdout io.Writer) error {
	usage := strings.TrimSpace(f.Name() + " [flags] " + f.operands)
	if _, err := fmt.Fprintf(stdout, "usage: %s\n\nflags:\n", usage); err != nil {
		return err
	}
	f.SetOutput(stdout)
	f.PrintDefaults()
	f.SetOutput(io.Discard)
	return nil
}

// ignoreHelp returns nil for flag.ErrHelp, and any other error unchanged.
func ignoreHelp(err error) error {
	if errors.Is(err, flag.ErrHelp) {
		return nil
	}
	return err
}

// helpLast returns `help audit verify` as `audit verify -help`, and other arguments unchanged.
func helpLast(args []string) []string {
	if len(args) < 2 || args[0] != "help" {
		return args
	}
	return append(slices.Clone(args[1:]), "-help")
}

// printAsked prints the help or the version if a command's first word asks for it, and reports whether it does.
func printAsked(args []string, help string, stdout io.Writer) (bool, error) {
	if len(args) == 0 {
		return false, nil
	}
	switch args[0] {
	case "help", "-h", "--h", "-help", "--help":
		_, err := io.WriteString(stdout, help+"\nEach command has -help, which lists its flags, and -version.\n")
		return true, err
	case "-version", "--version":
		_, err := fmt.Fprintln(stdout, version)
		return true, err
	}
	return false, nil
}

// errCommand returns the error for a first word that is not one of the commands of the program or of a command.
func errCommand(name string, args []string) error {
	of := strings.TrimPrefix(strings.TrimPrefix(name, "lamplighter"), " ") // the error's prefix is "lamplighter"
	switch {
	case len(args) == 0:
		return fmt.Errorf("%s needs a command: run %s -help to see them", of, name)
	case strings.HasPrefix(args[0], "-"):
		return fmt.Errorf("there is no flag %.64q before the command: run %s -help to see the commands", args[0], name)
	case of == "":
		return fmt.Errorf("there is no command %.64q: run %s -help to see the commands", args[0], name)
	}
	return fmt.Errorf("%s has no command %.64q: run %s -help to see the commands", of, args[0], name)
}
