package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
)

// commandFlags are the flags of a command. Besides its own flags, each command has -help and -version.
type commandFlags struct {
	*flag.FlagSet
	version *bool
}

// newCommandFlags returns the flags of the command with this full name: "lamplighter keys rotate".
func newCommandFlags(name string) commandFlags {
	f := flag.NewFlagSet(name, flag.ContinueOnError)
	f.SetOutput(io.Discard) // parseArgs returns errors and prints the help
	f.Usage = func() {}
	return commandFlags{f, f.Bool("version", false, "print the version, and do nothing else")}
}

// parseArgs parses the arguments of the command. It returns flag.ErrHelp after it has printed the help or the version.
// The error for a bad flag is one line.
func (f commandFlags) parseArgs(args []string, stdout io.Writer) error {
	err := f.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return errors.Join(err, f.printHelp(stdout))
	case err != nil:
		return fmt.Errorf("%w: run %s -help to see the flags", err, f.Name())
	case *f.version:
		_, err = fmt.Fprintln(stdout, version)
		return errors.Join(flag.ErrHelp, err)
	}
	return nil
}

func (f commandFlags) printHelp(stdout io.Writer) error {
	if _, err := fmt.Fprintf(stdout, "flags of %s:\n", f.Name()); err != nil {
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
	switch {
	case len(args) == 0:
		return fmt.Errorf("%s needs a command: run %[1]s -help to see them", name)
	case strings.HasPrefix(args[0], "-"):
		return fmt.Errorf("%s has no flag %.64q before its command: run %[1]s -help to see the commands", name, args[0])
	}
	return fmt.Errorf("%s has no command %.64q: run %[1]s -help to see the commands", name, args[0])
}
