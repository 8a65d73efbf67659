package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/foundation/clock"
)

// choices are the settings of `lamplighter serve`, from flags or environment variables. A flag wins.
type choices struct {
	addr        string
	hosts       []string // besides edge.Local
	dir         string
	anchors     string
	root        string
	store       string
	endpoint    string
	table       string
	smtp        string
	mailFrom    string
	epoch       time.Time
	compile     string
	successor   string
	demo        bool
	verbose     bool
	clients     map[string]*string // values of flags for platform.ReadOAuthClients, by variable
	google      platform.Client
	github      platform.Client
	googleCloud platform.Client
}

// parseFlags parses the flags of serve. It returns flag.ErrHelp for -help and -version, which it answers on stdout.
func parseFlags(args []string, stdout io.Writer) (choices, error) {
	var c choices
	f := newCommandFlags("lamplighter serve")
	f.StringVar(&c.addr, "addr", envOr("LAMPLIGHTER_ADDR", "127.0.0.1:8080"),
		"loopback address to answer on (LAMPLIGHTER_ADDR)")
	hosts := f.String("host", envOr("LAMPLIGHTER_HOST", ""),
		"comma list of further names that requests may be for, such as that of a proxy, besides 127.0.0.1, localhost "+
			"and [::1] (LAMPLIGHTER_HOST)")
	f.StringVar(&c.dir, "dir", envOr("LAMPLIGHTER_DIR", ".lamplighter"),
		"folder of the store, keys and mails (LAMPLIGHTER_DIR)")
	f.StringVar(&c.anchors, "anchors", envOr("LAMPLIGHTER_ANCHORS", ""),
		"folder of the anchors of the audit log, best on another disk: an older copy of -dir is detected by them "+
			"(LAMPLIGHTER_ANCHORS); empty is anchors in -dir")
	f.StringVar(&c.root, "root", envOr("LAMPLIGHTER_ROOT", ""),
		"folder with template.yaml and statemachines/ (LAMPLIGHTER_ROOT); the working directory or the repository of "+
			"this program")
	f.StringVar(&c.store, "store", envOr("LAMPLIGHTER_STORE", "embedded"), "embedded, or dynamodb (LAMPLIGHTER_STORE)")
	f.StringVar(&c.endpoint, "endpoint", envOr("LAMPLIGHTER_ENDPOINT", ""),
		"of -store dynamodb: an emulator's address; empty is AWS (LAMPLIGHTER_ENDPOINT)")
	f.StringVar(&c.table, "table", envOr("LAMPLIGHTER_TABLE", "lamplighter"),
		"of -store dynamodb: the table's name (LAMPLIGHTER_TABLE)")
	f.StringVar(&c.smtp, "smtp", "",
		"server that sends mails: smtp://user:password@host:587 or smtps://…; without one they are written to a "+
			"folder (LAMPLIGHTER_SMTP_URL, which others do not see in the list of processes)")
	f.StringVar(&c.mailFrom, "mail-from", envOr("LAMPLIGHTER_MAIL_FROM", ""),
		"of -smtp: the address that mails come from (LAMPLIGHTER_MAIL_FROM)")
	epoch := f.String("epoch", envOr("LAMPLIGHTER_EPOCH", ""),
		"when the store was restored from a copy, as 2026-03-10T09:30:00Z: ends every session and token of before "+
			"(LAMPLIGHTER_EPOCH)")
	f.StringVar(&c.compile, "compile", "",
		"command that compiles the complete program, which takes over then; make run starts its first stage with it")
	f.StringVar(&c.successor, "successor", "", "of -compile: the file of the complete program")
	f.BoolVar(&c.demo, "demo", true, "make the demo login and its simulated cloud")
	f.BoolVar(&c.verbose, "verbose", false, "log every request")
	c.providers(f.FlagSet)
	if err := f.parseArgs(args, stdout); err != nil {
		return c, err
	}
	if c.smtp == "" { // not the flag's default: -help shows defaults, and there is a password in it
		c.smtp = os.Getenv("LAMPLIGHTER_SMTP_URL")
	}
	var err error
	if c.epoch, err = platform.ParseEpoch(*epoch, clock.System{}.Now()); err != nil {
		return c, fmt.Errorf("-epoch: %w", err)
	}
	if err = c.setHosts(*hosts); err != nil {
		return c, err
	}
	return c, c.check()
}

// hostName matches the name of a host, or an IPv4 address, without a port.
var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

// setHosts sets the further names that requests may be for: those of -host, and the host of -addr.
func (c *choices) setHosts(list string) error {
	for name := range strings.SplitSeq(strings.ToLower(list), ",") {
		if name = strings.TrimSpace(name); name == "" {
			continue
		}
		if !hostName.MatchString(name) {
			return fmt.Errorf("-host has %.100q; it must be names without a port, such as lamps.example.com", name)
		}
		c.hosts = append(c.hosts, name)
	}
	if host, _, err := net.SplitHostPort(c.addr); err == nil && hostName.MatchString(host) {
		c.hosts = append(c.hosts, host)
	}
	return nil
}

func envOr(name, otherwise string) string {
	if v := os.Getenv(name); v != "" {
		return v
	}
	return otherwise
}

// providers defines the flags of platform.ReadOAuthClients. The secrets come from the environment alone: other users
// of the machine see the flags of every process.
func (c *choices) providers(f *flag.FlagSet) {
	c.clients = map[string]*string{}
	for variable, use := range map[string]string{
		"LAMPLIGHTER_GOOGLE_CLIENT_ID": "sign-in at Google: our client id; its secret is in " +
			"LAMPLIGHTER_GOOGLE_CLIENT_SECRET",
		"LAMPLIGHTER_GOOGLE_ISSUER": "another issuer of OpenID Connect in Google's place",
		"LAMPLIGHTER_GCP_CLIENT_ID": "projects of Google Cloud connected by OAuth: our client id; its secret is " +
			"in LAMPLIGHTER_GCP_CLIENT_SECRET",
		"LAMPLIGHTER_GCP_ISSUER": "another issuer in Google Cloud's place",
		"LAMPLIGHTER_GITHUB_CLIENT_ID": "sign-in at GitHub: our client id; its secret is in " +
			"LAMPLIGHTER_GITHUB_CLIENT_SECRET",
		"LAMPLIGHTER_GITHUB_URL": "a GitHub Enterprise Server in github.com's place",
	} {
		name := strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(variable, "LAMPLIGHTER_"), "_", "-"))
		c.clients[variable] = f.String(name, os.Getenv(variable), use+" ("+variable+")")
	}
}

// getenv returns the value of a flag for the variable, or else of the environment variable.
func (c *choices) getenv(variable string) string {
	if v, ok := c.clients[variable]; ok {
		return *v
	}
	return os.Getenv(variable)
}

func (c *choices) check() (err error) {
	if c.google, c.github, err = platform.ReadOAuthClients(c.getenv); err != nil {
		return err
	}
	if c.googleCloud, err = platform.ReadGoogleCloudClient(c.getenv); err != nil {
		return err
	}
	if c.store != "embedded" && c.store != "dynamodb" {
		return fmt.Errorf("-store is %q; it must be embedded or dynamodb", c.store)
	}
	if (c.compile == "") != (c.successor == "") {
		return errors.New("-compile and -successor need each other: what compiles the complete program, " +
			"and where it is")
	}
	if err := loopback(c.addr); err != nil {
		return err
	}
	if c.root == "" {
		c.root = findRoot()
	}
	return nil
}

// loopback returns an error for an address that other machines can reach: there is no TLS here, and simulated clouds
// and addresses in private networks are accepted.
func loopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("-addr is %q; it must be host:port: %w", addr, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("-addr is %q; it must be a loopback address, because the service speaks HTTP without TLS: "+
			"to reach it from elsewhere, put a proxy with TLS and access control before it, and name it with -host",
			addr)
	}
	return nil
}

// findRoot returns the working directory if it has the template, or else the folder above the program's folder. `make
// build` puts the program into a subfolder of the repository.
func findRoot() string {
	if _, err := os.Stat("template.yaml"); errors.Is(err, os.ErrNotExist) {
		if self, err := os.Executable(); err == nil {
			return filepath.Dir(filepath.Dir(self))
		}
	}
	return "."
}
