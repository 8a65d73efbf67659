package kubeconfig_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"math/big"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/cloud/kubernetes/kubeconfig"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/testkit/apitest"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// pair makes a certificate that ends at the time, and its key, both in base64 of PEM.
func pair(t testing.TB, end time.Time) (certificate, key string) {
	t.Helper()
	k := apitest.Value(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "deployer"}, NotBefore: end.AddDate(-1, 0, 0),
		NotAfter: end,
		IsCA:     true, BasicConstraintsValid: true,
	}
	der := apitest.Value(x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k))(t)
	private := apitest.Value(x509.MarshalPKCS8PrivateKey(k))(t)
	return encoded("CERTIFICATE", der), encoded("PRIVATE KEY", private)
}

func encoded(kind string, der []byte) string {
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// written returns a kubeconfig with these lines in its cluster and in its user.
func written(cluster, user string) string {
	return `apiVersion: v1
kind: Config
current-context: prod
contexts:
- name: other
  context: {cluster: nowhere, user: nobody}
- name: prod
  context: {cluster: prod-cluster, user: deployer, namespace: shop}
clusters:
- name: prod-cluster
  cluster:
    server: https://ABC.gr7.eu-west-1.eks.amazonaws.com
` + indented(cluster) + `users:
- name: admin
  user:
    exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}
- name: deployer
  user:
    x-nothing: 1
` + indented(user)
}

func indented(lines string) string {
	var b strings.Builder
	for l := range strings.SplitSeq(lines, "\n") {
		if l != "" {
			b.WriteString("    " + l + "\n")
		}
	}
	return b.String()
}

func TestATokenOfTheCurrentContextIsTaken(t *testing.T) {
	authority, _ := pair(t, noon.AddDate(1, 0, 0))
	got := apitest.Value(kubeconfig.ParseKubeconfig(written("certificate-authority-data: "+authority+
		"\ntls-server-name: api.internal", "token: abc.def"), noon))(t)
	if got.Server != "https://ABC.gr7.eu-west-1.eks.amazonaws.com" || got.Token != "abc.def" ||
		got.ServerName != "api.internal" || !bytes.Contains(got.Authority, []byte("BEGIN CERTIFICATE")) ||
		got.Certificate != nil {
		t.Errorf("%+v", got)
	}
}

func TestAClientCertificateIsTaken(t *testing.T) {
	certificate, key := pair(t, noon.Add(time.Hour))
	got, err := kubeconfig.ParseKubeconfig(written("",
		"client-certificate-data: "+certificate+"\nclient-key-data: "+key), noon)
	if err != nil || !bytes.Contains(got.Certificate, []byte("BEGIN CERTIFICATE")) ||
		!bytes.Contains(got.Key, []byte("PRIVATE KEY")) || got.Token != "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestJSONAndASingleContextWithoutAChoiceAreTaken(t *testing.T) {
	text := `{"contexts":[{"name":"a","context":{"cluster":"c","user":"u"}}],
		"clusters":[{"name":"c","cluster":{"server":"https://10.0.0.1:6443"}}],"users":[{"name":"u",
		"user":{"token":"t","exec":null}}]}`
	if got, err := kubeconfig.ParseKubeconfig(text, noon); err != nil || got.Server != "https://10.0.0.1:6443" ||
		got.Token != "t" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestWhatIsNotAcceptedIsNamed(t *testing.T) {
	certificate, key := pair(t, noon.Add(time.Hour))
	ended, endedKey := pair(t, noon.Add(-time.Hour))
	_, foreign := pair(t, noon.Add(time.Hour))
	locked := encoded("ENCRYPTED PRIVATE KEY", []byte("x"))
	token := "token: hush-hush"
	tests := []struct{ name, text, says string }{
		{"nothing", "", "it is empty"},
		{"what is no YAML", "kind: Config\nusers: hush-hush: [", "line 2"},
		{"a list where a word belongs", "kind: [hush-hush]", "line 1"},
		{"another kind of thing", "kind: Secret", `"Secret", not Config`},
		{"two documents", written("", token) + "---\nkind: Config\n", "more than one document"},
		{"too much of it", strings.Repeat("#", kubeconfig.MaxBytes+1), "--minify"},
		{"no context at all", "kind: Config", "current-context is missing, and there are 0 contexts"},
		{
			"a context that is not there",
			strings.Replace(written("", token), "current-context: prod", "current-context: dev", 1),
			`no context "dev"`,
		},
		{
			"a cluster that is not there", strings.Replace(written("", token), "name: prod-cluster", "name: c", 1),
			`no cluster "prod-cluster"`,
		},
		{
			"a user that is not there", strings.Replace(written("", token), "name: deployer", "name: d", 1),
			`no user "deployer"`,
		},
		{
			"a server that is not https", strings.Replace(written("", token), "https://", "http://", 1),
			"not an https address",
		},
		{
			"no server", strings.Replace(written("", token), "https://ABC.gr7.eu-west-1.eks.amazonaws.com", `""`, 1),
			"server is missing",
		},
		{
			"a password in the server", strings.Replace(written("", token), "https://", "https://hush-hush@", 1),
			"user name",
		},
		{"a server that is not checked", written("insecure-skip-tls-verify: true", token), "insecure-skip-tls-verify"},
		{"a proxy", written("proxy-url: http://proxy", token), "proxy-url"},
		{"a file of the authority", written("certificate-authority: /etc/ca.crt", token), "certificate-authority-data"},
		{
			"an authority that is not base64", written("certificate-authority-data: '***'", token),
			"certificate-authority-data is not base64",
		},
		{
			"an authority that is no certificate", written("certificate-authority-data: aGVsbG8=", token),
			"no certificate",
		},
		{"a plugin", written("", token+"\nexec: {command: /bin/sh}"), "exec: plugins are not run"},
		{"an auth provider", written("", token+"\nauth-provider: {name: gcp}"), "auth-provider"},
		{"a file of the token", written("", "tokenFile: /var/run/secrets/token"), "tokenFile names a file"},
		{
			"a file of the certificate", written("", "client-certificate: /c.pem\nclient-key-data: "+key),
			"client-certificate names a file",
		},
		{
			"a file of the key", written("", "client-certificate-data: "+certificate+"\nclient-key: /k.pem"),
			"client-key names a file",
		},
		{"somebody else's name", written("", token+"\nas: root"), "impersonation"},
		{"somebody else's groups", written("", token+"\nas-groups: [system:masters]"), "impersonation"},
		{"a password", written("", "username: root\npassword: hush-hush"), "username and password"},
		{"no credentials", written("", ""), "no credentials"},
		{"a token that cannot be one", written("", `token: "hush-hush\nX-Evil: 1"`), "characters"},
		{"a token without end", written("", "token: "+strings.Repeat("x", 17<<10)), "longer than"},
		{"a key without its certificate", written("", "client-key-data: "+key), "client-certificate-data is missing"},
		{
			"a certificate without its key", written("", "client-certificate-data: "+certificate),
			"client-key-data is missing",
		},
		{
			"another certificate's key",
			written("", "client-certificate-data: "+certificate+"\nclient-key-data: "+foreign),
			"not a certificate and its key",
		},
		{
			"a key with a passphrase",
			written("", "client-certificate-data: "+certificate+"\nclient-key-data: "+locked),
			"passphrase",
		},
		{
			"a certificate that has ended",
			written("", "client-certificate-data: "+ended+"\nclient-key-data: "+endedKey),
			"ended on 2026-03-01T11:00:00Z",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := kubeconfig.ParseKubeconfig(tt.text, noon)
			said := fault.Message(err)
			if !fault.Is(err, fault.Invalid) || !strings.Contains(said, tt.says) ||
				!strings.HasPrefix(said, "kubeconfig: ") {
				t.Errorf("%v; want it refused with %q", err, tt.says)
			}
			if strings.Contains(err.Error(), "hush-hush") {
				t.Errorf("the refusal repeats a secret: %v", err)
			}
		})
	}
}

// A few lines of aliases can stand for gigabytes; a short text can nest deeply.
func TestAHostileTextIsRefusedSoon(t *testing.T) {
	var bomb strings.Builder
	bomb.WriteString("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		a, b := string(rune('0'+i)), string(rune('1'+i))
		bomb.WriteString("a" + b + ": &a" + b + " [" + strings.TrimSuffix(strings.Repeat("*a"+a+",", 10), ",") + "]\n")
	}
	bomb.WriteString("users: [{name: u, user: {exec: *a9}}]\n")
	for _, text := range []string{
		bomb.String(), strings.Repeat("[", 200_000), strings.Repeat("- ", 100_000), strings.Repeat("{a: ", 50_000),
		"users: &a [*a]",
	} {
		start := time.Now()
		if _, err := kubeconfig.ParseKubeconfig(text, noon); !fault.Is(err, fault.Invalid) {
			t.Errorf("%.40q…: %v; want it refused", text, err)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%.40q… took %s", text, took)
		}
	}
}

func FuzzParse(f *testing.F) {
	certificate, key := pair(f, noon.Add(time.Hour))
	f.Add(written("", "token: t"))
	f.Add(written("certificate-authority-data: "+certificate,
		"client-certificate-data: "+certificate+"\nclient-key-data: "+key))
	f.Add(`{"users":[{"user":{"exec":{}}}]}`)
	f.Add("users: &a [*a]")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := kubeconfig.ParseKubeconfig(text, noon)
		switch {
		case err != nil && !fault.Is(err, fault.Invalid):
			t.Errorf("a refusal of another kind: %v", err)
		case err == nil &&
			(!strings.HasPrefix(strings.ToLower(got.Server), "https://") || got.Token == "" && got.Key == nil):
			t.Errorf("accepted %+v", got)
		}
	})
}
