package ssrfguard

import "lamplighter.dev/shared/testkit/ssrfguardtest"

// hostile are the addresses that the production policy must refuse.
var hostile = ssrfguardtest.Hostile

// leading are normal names that resolve to refused addresses, so only the dialler detects them.
var leading = []string{"https://127.0.0.1.nip.io/", "https://rebinding.example/", "https://xn--9ca.example./hook?x=1"}

// insideOnly are allowed only by policies that allow private addresses.
var insideOnly = []string{
	"http://127.0.0.1:8080/", "https://127.0.0.1/", "http://10.0.0.1/", "http://172.16.0.1:1/", "http://192.168.1.1/",
	"http://[::1]:5000/",
	"https://[fc00::1]/", "http://localhost:5000/path", "http://intranet/", "http://kube.internal:6443/",
	"https://[::ffff:127.0.0.1]/",
	"http://example.com:8080/",
}

// nowhere are refused even if private addresses are allowed.
var nowhere = []string{
	"https://169.254.169.254/latest/meta-data/", "http://169.254.170.2/v2/credentials", "http://[fe80::1]/",
	"http://[fd00:ec2::254]/",
	"http://[::ffff:169.254.169.254]/", "http://[::ffff:a9fe:a9fe]/", "http://168.63.129.16/",
	"http://100.100.100.200/",
	"http://192.0.0.192/", "http://[fd20:ce::254]/", "http://metadata.google.internal/", "http://METADATA/",
	"http://sandbox.localdomain:9001/",
	"http://user@127.0.0.1/", "gopher://127.0.0.1/", "http://127.1/", "http://2130706433/", "http://0x7f.1/",
	"http://0.0.0.0/", "http://[::]/",
	"http://[64:ff9b::a9fe:a9fe]/", "http://224.0.0.1/", "http://[fe80::1%25eth0]/", "http://①②⑦.⓪.⓪.①/",
	"http://127.0.0.1 /", "",
}
