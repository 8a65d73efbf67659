// Package kubeconfig parses the kubeconfigs that customers supply and reduces them to the access to one cluster: its
// address, its certificate authority and a token or client certificate. It exists so that a kubeconfig cannot make
// this process run a plugin, read a file or trust another authority. It links no Kubernetes client.
package kubeconfig

import (
	"cmp"
	"errors"
	"io"
	"net/url"
	"regexp"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"lamplighter.dev/shared/foundation/fault"
)

// MaxBytes is the maximum size of a kubeconfig in bytes.
const MaxBytes = 256 << 10

// Access is the part of a kubeconfig that is kept. It is a secret.
type Access struct {
	Server string `json:"server"` // https://…
	// that the server's certificate has to bear, when it is not the server's host
	ServerName  string `json:"serverName,omitempty"`
	Authority   []byte `json:"authority,omitempty"`   // PEM; empty: the authorities of the system
	Token       string `json:"token,omitempty"`       // bearer token
	Certificate []byte `json:"certificate,omitempty"` // PEM, with Key
	Key         []byte `json:"key,omitempty"`         // PEM
}

// file holds the fields of a kubeconfig that are read (k8s.io/client-go/tools/clientcmd/api/v1).
type file struct {
	Kind     string `yaml:"kind"`
	Current  string `yaml:"current-context"`
	Contexts []struct {
		Name    string  `yaml:"name"`
		Context context `yaml:"context"`
	} `yaml:"contexts"`
	Clusters []struct {
		Name    string  `yaml:"name"`
		Cluster cluster `yaml:"cluster"`
	} `yaml:"clusters"`
	Users []struct {
		Name string `yaml:"name"`
		User user   `yaml:"user"`
	} `yaml:"users"`
}

type context struct {
	Cluster string `yaml:"cluster"`
	User    string `yaml:"user"`
}

type cluster struct {
	Server        string `yaml:"server"`
	ServerName    string `yaml:"tls-server-name"`
	AuthorityFile string `yaml:"certificate-authority"`
	Authority     string `yaml:"certificate-authority-data"`
	Insecure      bool   `yaml:"insecure-skip-tls-verify"`
	Proxy         string `yaml:"proxy-url"`
}

type user struct {
	Token           string `yaml:"token"`
	TokenFile       string `yaml:"tokenFile"`
	Certificate     string `yaml:"client-certificate-data"`
	CertificateFile string `yaml:"client-certificate"`
	Key             string `yaml:"client-key-data"`
	KeyFile         string `yaml:"client-key"`
	Username        string `yaml:"username"`
	Password        string `yaml:"password"`
	As              any    `yaml:"as"`
	AsUID           any    `yaml:"as-uid"`
	AsGroups        any    `yaml:"as-groups"`
	AsExtra         any    `yaml:"as-user-extra"`
	Exec            any    `yaml:"exec"`
	AuthProvider    any    `yaml:"auth-provider"`
}

// ParseKubeconfig returns the cluster and the user of the current context of a kubeconfig, which may be YAML or JSON.
// A kubeconfig that is not accepted is fault.Invalid, with a message that repeats no secret. A client certificate that
// has expired by now is refused.
func ParseKubeconfig(text string, now time.Time) (Access, error) {
	f, err := decode(text)
	if err != nil {
		return Access{}, err
	}
	c, u, err := f.current()
	if err != nil {
		return Access{}, err
	}
	if err = cmp.Or(c.check(), u.check()); err != nil {
		return Access{}, err
	}
	return assembleAccess(c, u, now)
}

// ParseCluster returns only the cluster of the current context of a kubeconfig, for callers that have a token already.
// It ignores the user, who may name plugins and files.
func ParseCluster(text string) (Access, error) {
	f, err := decode(text)
	if err != nil {
		return Access{}, err
	}
	c, _, err := f.current()
	if err == nil {
		err = c.check()
	}
	if err != nil {
		return Access{}, err
	}
	return assembleAccess(c, user{}, time.Time{})
}

func errInvalid(format string, args ...any) error {
	return fault.New(fault.Invalid, "kubeconfig: "+format, args...)
}

// line matches the line number in an error of YAML. The rest of the error may repeat the file.
var line = regexp.MustCompile(`line \d+`)

func decode(text string) (file, error) {
	var f, more file
	if len(text) > MaxBytes {
		return f, errInvalid("%d bytes are more than %d: send the one context that is needed (kubectl config view "+
			"--minify --flatten)", len(text), MaxBytes)
	}
	d := yaml.NewDecoder(strings.NewReader(text))
	if err := d.Decode(&f); errors.Is(err, io.EOF) {
		return f, errInvalid("it is empty")
	} else if err != nil {
		return f, unreadable(err)
	}
	if err := d.Decode(&more); !errors.Is(err, io.EOF) {
		return f, errInvalid("it holds more than one document")
	}
	if f.Kind != "" && f.Kind != "Config" {
		return f, errInvalid("it is of kind %.32q, not Config", f.Kind)
	}
	return f, nil
}

func unreadable(err error) error {
	if at := line.FindString(err.Error()); at != "" {
		return errInvalid("%s cannot be read: it is not YAML, or not as kubectl writes it", at)
	}
	return errInvalid("it cannot be read: it is not YAML, or not as kubectl writes it")
}

// current finds cluster and user of the current context, or of the only one.
func (f *file) current() (cluster, user, error) {
	name := f.Current
	if name == "" && len(f.Contexts) == 1 {
		name = f.Contexts[0].Name
	}
	if name == "" {
		return cluster{}, user{}, errInvalid("current-context is missing, and there are %d contexts", len(f.Contexts))
	}
	for _, c := range f.Contexts {
		if c.Name == name {
			return f.of(c.Context)
		}
	}
	return cluster{}, user{}, errInvalid("there is no context %.64q", name)
}

func (f *file) of(x context) (c cluster, u user, err error) {
	found := 0
	for _, v := range f.Clusters {
		if v.Name == x.Cluster {
			c, found = v.Cluster, found|1
		}
	}
	for _, v := range f.Users {
		if v.Name == x.User {
			u, found = v.User, found|2
		}
	}
	switch {
	case found&1 == 0:
		return c, u, errInvalid("there is no cluster %.64q, which the context names", x.Cluster)
	case found&2 == 0:
		return c, u, errInvalid("there is no user %.64q, but the context names it", x.User)
	}
	return c, u, nil
}

// inline returns advice to replace a file name in a field by its content.
func inline(field, path, instead string) error {
	if path == "" {
		return nil
	}
	return errInvalid("%s names a file, which is not here: put its content into %s (kubectl config view --minify "+
		"--flatten)", field, instead)
}

func (c cluster) check() error {
	if err := inline("certificate-authority", c.AuthorityFile, "certificate-authority-data"); err != nil {
		return err
	}
	switch u, err := url.Parse(c.Server); {
	case c.Server == "":
		return errInvalid("server is missing")
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || len(c.Server) > 2048:
		return errInvalid("server is not an https address")
	case u.User != nil:
		return errInvalid("server holds a user name or password")
	case c.Insecure:
		return errInvalid("insecure-skip-tls-verify is not accepted, for anybody could pose as the cluster: give " +
			"certificate-authority-data")
	case c.Proxy != "":
		return errInvalid("proxy-url is not accepted: the cluster has to be reached directly")
	case len(c.ServerName) > 253:
		return errInvalid("tls-server-name is longer than a name can be")
	}
	return nil
}

func (u user) check() error {
	given := "give a token, or client-certificate-data and client-key-data"
	switch {
	case u.Exec != nil:
		return errInvalid("exec: plugins are not run here; %s", given)
	case u.AuthProvider != nil:
		return errInvalid("auth-provider: it is not run here; %s", given)
	case u.impersonates():
		return errInvalid("as: impersonation is not supported; give the credentials of the user himself")
	case u.Username != "" || u.Password != "":
		return errInvalid("username and password are not accepted; %s", given)
	}
	if err := u.files(); err != nil {
		return err
	}
	if u.Token == "" && u.Certificate == "" && u.Key == "" {
		return errInvalid("the user has no credentials; %s", given)
	}
	return nil
}

func (u user) impersonates() bool {
	return u.As != nil || u.AsUID != nil || u.AsGroups != nil || u.AsExtra != nil
}

func (u user) files() error {
	return cmp.Or(inline("tokenFile", u.TokenFile, "token"),
		inline("client-certificate", u.CertificateFile, "client-certificate-data"),
		inline("client-key", u.KeyFile, "client-key-data"))
}
