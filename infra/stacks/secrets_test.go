package stacks_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lamplighter.dev/functions"
	"lamplighter.dev/infra/stacks"
	"lamplighter.dev/shared/api/platform"
	"lamplighter.dev/shared/engine/table"
)

// resolved matches a dynamic reference, which CloudFormation replaces by a secret in the function's configuration.
var resolved = regexp.MustCompile(`\{\{ *resolve:(secretsmanager|ssm-secure)`)

// A function's configuration can be read by everybody who may list functions, and stays in its old versions.
func TestSecrets_AreInNoEnvironment(t *testing.T) {
	for path, text := range readAll(t) {
		if resolved.Match(text) {
			t.Errorf("%s writes a secret into the configuration of a function: name it in <variable>_FROM and declare "+
				"it in Secrets", path)
		}
		for _, s := range platform.Secrets {
			if regexp.MustCompile(`(?m)^ *` + string(s) + `:`).Match(text) {
				t.Errorf("%s sets %s, which holds a secret: set %s", path, s, s.From())
			}
		}
	}
}

// namedSecrets matches the variables that name secrets, with the template's parameters.
var namedSecrets = regexp.MustCompile(`(LAMPLIGHTER_\w+)_FROM: !Ref (\w+)`)

func TestSecrets_AreNamedForTheFunctionsThatDeclareThem(t *testing.T) {
	files := readAll(t)
	if want := platform.PepperSecret.From() + ": !Ref Pepper"; !strings.Contains(string(files[stacks.Shared]), want) {
		t.Errorf("%s does not say %s", stacks.Shared, want)
	}
	for _, f := range functions.All() {
		want := map[string]string{}
		for _, s := range f.Secrets {
			if s != platform.PepperSecret { // all have its name
				want[string(s)] = secretParameters[s]
			}
		}
		got := map[string]string{}
		for _, m := range namedSecrets.FindAllStringSubmatch(textOfFunction(t, files, f.Name), -1) {
			if slices.Contains(platform.Secrets, platform.Secret(m[1])) { // LAMPLIGHTER_MAIL_FROM is an address
				got[m[1]] = m[2]
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("the template names the secrets %v for %s, which declares %v", got, f.Name, want)
		}
	}
}

// textOfFunction returns the part of a template that describes a function.
func textOfFunction(t *testing.T, files map[string][]byte, folder string) string {
	t.Helper()
	for _, text := range files {
		for part := range strings.SplitSeq(string(text), "\n\n") {
			if strings.Contains(part+"\n", "CodeUri: ../../build/"+folder+"\n") {
				return part
			}
		}
	}
	t.Fatalf("no template has the function %s", folder)
	return ""
}

// peppered are the partitions with keys or contents that are hashes under the pepper.
var peppered = []table.Partition{
	"ORG#*#AUDITIN#*", "AUDITIN#SYS#*", "ORG#*#IDEM", "IDEM#*", "EMAIL#*", "IDENT#*", "OTP#*", "RESET#*", "SIGNIN#*",
	"SAMLREQ#*", "SAMLSEEN#*", "ORG#*#CONNECT", "WAKE#*", "INVITED#*", "ORG#*#INVITE",
}

// The functions that need the pepper are those that touch a hash under it, and the notifier, which signs the links that
// end mails. No other function can read it.
func TestSecrets_ThePepperIsForThoseThatHashUnderIt(t *testing.T) {
	for _, f := range functions.All() {
		needs := f.Name == "notifier" || slices.ContainsFunc(f.Access.All(), func(p table.Partition) bool {
			return slices.Contains(peppered, p)
		})
		if has := slices.Contains(f.Secrets, platform.PepperSecret); has != needs {
			t.Errorf("functions/%s/declaration.go declares platform.PepperSecret: %v, where it is %v that it hashes "+
				"under the pepper", f.Name, has, needs)
		}
	}
}

// Providers of sign-in and clouds know a function by its client secret: each such secret has few readers.
func TestSecrets_HaveTheReadersThatTheyAreFor(t *testing.T) {
	readers := map[platform.Secret][]string{}
	for _, f := range functions.All() {
		for _, s := range f.Secrets {
			if s != platform.PepperSecret {
				readers[s] = append(readers[s], f.Name)
			}
		}
	}
	clouds := []string{"billingsync", "cloudorganisations", "connector", "discovery", "executor", "organisationsync"}
	for s, want := range map[platform.Secret][]string{
		platform.GoogleSecret: {"auth"}, platform.GitHubSecret: {"auth"}, platform.MailServerSecret: {"mailer"},
		platform.GooglePricesSecret: {"billingsync", "pricesync"}, platform.GoogleCloudSecret: clouds,
	} {
		slices.Sort(readers[s])
		if !slices.Equal(readers[s], want) {
			t.Errorf("%s is read by %v, want %v", s, readers[s], want)
		}
	}
}
