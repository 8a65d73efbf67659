package aws

import "strings"

// nameIn returns what follows the prefix in an ARN of the service: nameIn("arn:aws:rds:…:db:orders", "rds", "db:") is
// "orders". It is "" when the uid is not such an ARN.
func nameIn(uid, service, prefix string) string {
	f := strings.SplitN(uid, ":", 6)
	if len(f) < 6 || f[0] != "arn" || f[2] != service {
		return ""
	}
	name, ok := strings.CutPrefix(f[5], prefix)
	if !ok {
		return ""
	}
	return name
}

// namesIn maps the names in the ARNs back to them, and leaves out uids that are no such ARN.
func namesIn(uids []string, name func(uid string) string) map[string]string {
	out := map[string]string{}
	for _, u := range uids {
		if n := name(u); n != "" {
			out[n] = u
		}
	}
	return out
}
