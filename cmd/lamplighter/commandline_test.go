package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// commands are all commands of the program, with their words.
var commands = []string{
	"", "serve", "openapi", "version", "restore", "audit", "audit verify", "audit export", "work", "work parked",
	"work unpark", "mails", "mails dead", "mails redrive", "keys", "keys rotate", "keys list",
	"rules", "rules test", "rules plan", "rules apply", "rules prove",
}

func TestCommandLine_EachCommandHasHelpAndVersion(t *testing.T) {
	for _, command := range commands {
		for _, flag := range []string{"-h", "-help", "--help", "-version", "--version"} {
			t.Run(strings.TrimSpace(command+" "+flag), func(t *testing.T) {
				var out, complaints bytes.Buffer
				err := run(t.Context(), append(strings.Fields(command), flag), &out, &complaints)
				if err != nil || complaints.Len() > 0 {
					t.Fatalf("%v\n%s", err, complaints.String())
				}
				if strings.HasSuffix(flag, "version") {
					if out.String() != version+"\n" {
						t.Errorf("it prints %q, not the version", out.String())
					}
				} else if help := out.String(); !strings.Contains(help, "lamplighter "+command) ||
					!strings.Contains(help, "-version") {
					t.Errorf("its help is\n%s", help)
				}
			})
		}
	}
}

func TestCommandLine_ABadFlagIsOneLineWithTheWayToTheHelp(t *testing.T) {
	for _, args := range []string{
		"-bad", "serve -bad", "serve -demo=perhaps", "serve -addr", "openapi -bad", "version -bad", "restore -bad",
		"audit -bad", "audit verify -bad", "audit export -bad", "audit export -system many", "work -bad",
		"work parked -bad", "mails -bad", "mails dead -bad", "keys -bad", "keys rotate -bad", "bad", "audit bad",
		"work bad", "mails bad", "keys bad", "work", "mails", "keys", "work unpark", "mails redrive",
		"rules", "rules bad", "rules -bad", "rules test", "rules test -bad", "rules plan", "rules plan -restore many",
		"rules plan -restore 3 -prune", "rules apply", "rules apply a b", "rules prove", "rules prove -bad",
	} {
		t.Run(args, func(t *testing.T) {
			var out, complaints bytes.Buffer
			err := run(t.Context(), strings.Fields(args), &out, &complaints)
			if err == nil {
				t.Fatal("it is accepted")
			}
			said := err.Error()
			if strings.Contains(said, "\n") || !strings.Contains(said, "run lamplighter") ||
				!strings.Contains(said, "-help") {
				t.Errorf("the error is %q", said)
			}
			if out.Len()+complaints.Len() > 0 {
				t.Errorf("besides the error it prints %q and %q", out.String(), complaints.String())
			}
		})
	}
}

// A person adds -h to a command line that did not work, wherever the cursor is.
func TestCommandLine_FlagsMayStandBehindOperands(t *testing.T) {
	for args, want := range map[string]string{
		"audit verify export.ndjson -h": "lamplighter audit verify",
		"audit verify a b --help":       "lamplighter audit verify",
		"audit verify a --version":      version + "\n", "work unpark id -h": "lamplighter work unpark",
		"mails redrive id -help": "lamplighter mails redrive", "restore backups -h": "lamplighter restore",
		"serve now -h": "lamplighter serve", "openapi x -version": version + "\n",
		"read-bill -h": "lamplighter read-bill",
		"help":         "usage: lamplighter", "help serve": "lamplighter serve", "help audit": "lamplighter audit",
		"help audit verify": "lamplighter audit verify", "help keys rotate": "lamplighter keys rotate",
	} {
		var out, complaints bytes.Buffer
		if err := run(t.Context(), strings.Fields(args), &out, &complaints); err != nil || complaints.Len() > 0 ||
			!strings.Contains(out.String(), want) {
			t.Errorf("%s: %v, %s\nit prints\n%s", args, err, complaints.String(), out.String())
		}
	}
}

// The message of an error is printed behind "lamplighter: ". It names what is wrong and the way out.
func TestCommandLine_ErrorsNameTheWayOut(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"bad":                                  `there is no command "bad": run lamplighter -help`,
		"help bad":                             `there is no command "bad": run lamplighter -help`,
		"-bad":                                 `there is no flag "-bad" before the command: run lamplighter -help`,
		"audit bad":                            `audit has no command "bad": run lamplighter audit -help`,
		"audit verify":                         "audit verify wants files: run lamplighter audit verify -help",
		"audit verify -row 3 f":                "-row is of -head",
		"audit verify -keys k f":               "-keys is of -anchors",
		"audit verify -org o f":                "-anchors and -org together",
		"audit verify f -anchors":              "flag needs an argument: -anchors: run lamplighter audit verify -help",
		"audit export extra -org o":            `audit export takes flags only, not "extra"`,
		"audit export -dir " + dir + " -org o": "there is no store in " + dir + ": name the folder of",
		"work parked -dir " + dir:              "there is no store in " + dir + ": name the folder of",
		"keys list -dir " + dir:                "there are no keys in " + dir + ": name the folder of",
		"keys rotate -dir " + dir:              "there are no keys in " + dir + ": name the folder of",
		"keys rotate -secrets -dir " + dir:     "there are no keys in " + dir + ": name the folder of",
		"rules bad":                            `rules has no command "bad": run lamplighter rules -help`,
		"rules test":                           "rules test wants files of rules: run lamplighter rules test -help",
		"rules test " + dir + "/none.yaml":     "none.yaml: no such file",
		"rules plan":                           "wants files of rules, or -restore",
		"rules apply job_1":                    "there is no token: set LAMPLIGHTER_TOKEN",
		"rules apply job_1 -url lamps":         `-url is "lamps"; it must be an address such as https://`,
		"rules apply job_1 -url http://a.org":  "a token is sent by https only, except to this machine",
		"rules prove rec_1":                    "there is no token: set LAMPLIGHTER_TOKEN",
		"restore":                              "-help",
		"restore a -table b -to c":             `restore takes flags only, not "a"`,
		"serve -demo false":                    `not "false"; write the value of a switch behind =`,
		"read-bill x":                          `read-bill takes flags only, not "x"`,
	} {
		var out bytes.Buffer
		err := run(t.Context(), strings.Fields(args), &out, &out)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: the error is %v; want it to say %q", args, err, want)
		}
	}
}

func TestCommandLine_NamesForRequestsHaveNoPort(t *testing.T) {
	for hosts, want := range map[string]string{
		"lamps.example.com":             "",
		"\tLamps.example.com, proxy ,":  "",
		"lamps.example.com:8080":        `-host has "lamps.example.com:8080"`,
		"https://lamps.example.com":     `-host has "https://lamps.example.com"`,
		"lamps.example.com,*":           `-host has "*"`,
		"lamps.example.com;evil..other": `-host has "lamps.example.com;evil..other"`,
	} {
		c, err := parseFlags([]string{"-host", hosts}, io.Discard)
		if want == "" && (err != nil || c.hosts[0] != "lamps.example.com") {
			t.Errorf("%q: %v, %v", hosts, c.hosts, err)
		}
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v; want %s", hosts, err, want)
		}
	}
}
