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
