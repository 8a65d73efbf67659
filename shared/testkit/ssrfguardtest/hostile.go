// Package ssrfguardtest provides the addresses for tests of every field that takes an address.
package ssrfguardtest

// Hostile are addresses that the production policy must refuse: every known notation of loopback, private, link-local
// and special-purpose networks, names that resolve to them, and forms that two parsers read differently.
var Hostile = []string{
	"https://127.0.0.1/", "https://127.1/", "https://127.0.1/", "https://0/", "https://0.0.0.0/", "https://2130706433/",
	"https://0x7f000001/", "https://0x7f.1/", "https://0177.0.0.1/", "https://017700000001/",
	"https://169.254.169.254/latest/meta-data/", "https://169.254.170.2/v2/credentials",
	"https://169.254.100.1:9001/2018-06-01/runtime/invocation/next",
	"http://127.0.0.1:9001/2018-06-01/runtime/invocation/next",
	"https://[fd00:ec2::254]/", "https://169.254.169.123/", "https://168.63.129.16/",
	"https://metadata.google.internal/",
	"https://100.100.100.200/",
	"https://10.0.0.1/", "https://172.16.0.1/", "https://172.31.255.255/", "https://192.168.1.1/",
	"https://100.64.0.1/",
	"https://198.18.0.1/", "https://192.0.0.192/", "https://224.0.0.1/", "https://240.0.0.1/",
	"https://255.255.255.255/",
	"https://192.0.2.1/", "https://198.51.100.1/", "https://203.0.113.1/", "https://192.88.99.1/",
	"https://[::]/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/",
	"https://[::ffff:a9fe:a9fe]/",
	"https://[::127.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://[64:ff9b:1::a9fe:a9fe]/",
	"https://[2002:7f00:1::]/",
	"https://[2002:a9fe:a9fe::]/", "https://[2001:0:7f00:1::]/", "https://[fe80::1]/", "https://[fe80::1%25eth0]/",
	"https://[fc00::1]/", "https://[fec0::1]/", "https://[ff02::1]/", "https://[2001:db8::1]/", "https://[100::1]/",
	"https://[::ffff:0:127.0.0.1]/",
	"https://localhost/", "https://LOCALHOST./", "https://foo.localhost/", "https://user:pw@example.com/",
	"https://example.com:22/", "https://example.com:9001/", "http://example.com/", "gopher://example.com/",
	"file:///etc/passwd", "ftp://example.com/", "https:///x", "https:example.com", "//example.com/",
	"https://example.com\\@127.0.0.1/", "https://127.0.0.1\t/", "https://①②⑦.⓪.⓪.①/", "https://intranet/",
	"https://example.com\r\nX: y/", "https://0.0.0.0.nip.io./ ", "jar:http://x!/",
}
