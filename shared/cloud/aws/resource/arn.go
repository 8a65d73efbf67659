package resource

import (
	"strings"
)

// NameIn returns the name after the prefix in an ARN of the service: NameIn("arn:aws:rds:…:db:orders", "rds", "db:")
// is "orders". It returns "" when the uid is not such an ARN.
func NameIn(uid, service, prefix string) string {
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

// NamesIn returns the uids by the names in their ARNs. It leaves out uids that are no such ARN.
func NamesIn(uids []string, name func(uid string) string) map[string]string {
	out := map[string]string{}
	for _, u := range uids {
		if n := name(u); n != "" {
			out[n] = u
		}
	}
	return out
}

// bareTypes are the types of the services whose ARNs contain only the name of the resource.
var bareTypes = map[string]string{"s3": "s3:bucket", "sqs": "sqs:queue", "sns": "sns:topic"}

// deepTypes are the types that have more than the first word in their ARNs: "loadbalancer/app/web/50dc" is
// loadbalancer/app.
var deepTypes = map[string]bool{
	"elasticloadbalancing:loadbalancer": true, "wafv2:regional": true, "wafv2:global": true,
	"elasticloadbalancing:listener": true,
}

// NativeType returns the type of an ARN in Resource Explorer's form: "ec2:volume" for "arn:aws:ec2:…:volume/vol-1".
func NativeType(arn string) string {
	f := strings.SplitN(arn, ":", 6)
	if len(f) < 6 {
		return ""
	}
	parts := strings.FieldsFunc(f[5], func(r rune) bool { return r == '/' || r == ':' })
	bare, ok := bareTypes[f[2]]
	switch {
	case ok && len(parts) < 2:
		return bare
	case len(parts) < 2:
		return f[2]
	}
	native := f[2] + ":" + parts[0]
	if deepTypes[native] && len(parts) > 2 {
		return native + "/" + parts[1]
	}
	return native
}

// RegionOf returns the region in an ARN; "" for a resource without a region or a uid that is no ARN, such as the name
// of an S3 bucket.
func RegionOf(arn string) string {
	if f := strings.SplitN(arn, ":", 6); len(f) == 6 {
		return f[3]
	}
	return ""
}

// LastPart returns the part of an ARN after its last separator, mostly the name.
func LastPart(arn string) string { return arn[strings.LastIndexAny(arn, "/:")+1:] }
