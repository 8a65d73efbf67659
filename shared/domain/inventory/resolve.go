package inventory

import (
	"regexp"
	"strings"

	"lamplighter.dev/shared/domain/inventory/index"
)

// Bills name a resource by its service's name, which may differ from the native id that discovery knows: a volume by
// "vol-…" when its id is an ARN; an EC2 instance by its ARN when its id is "i-…"; in Azure by the same id in another
// case; in Google Cloud with the project number in place of the project name. A name that matches several resources
// resolves to none.

// severalUIDs marks an alias that is not unique.
const severalUIDs = ""

// resolve finds the row of a billed id. It needs the read lock.
func (d *Directory) resolve(accountID, billed string) (index.Row, bool) {
	st := d.view.st
	for _, uid := range []string{billed, strings.ToLower(billed), lastSegment(billed)} {
		if r, ok := st.RowByUID(uid); ok {
			return r, true
		}
	}
	d.nameAliases()
	for _, alias := range aliasesOf(billed) {
		for _, key := range []string{accountID + "\x00" + alias, alias} {
			if uid := d.aliases[key]; uid != severalUIDs {
				return st.RowByUID(uid)
			}
		}
	}
	return index.Row{}, false
}

// nameAliases indexes the aliases of all resources, per account and overall. It needs the read lock.
func (d *Directory) nameAliases() {
	if d.aliases != nil {
		return
	}
	d.aliases = map[string]string{}
	for r := range d.view.st.Rows() {
		uid, account := r.UID(), r.Word(index.AccountRef)
		for _, alias := range aliasesOf(uid) {
			d.alias(alias, uid)
			d.alias(account+"\x00"+alias, uid)
		}
	}
}

func (d *Directory) alias(name, uid string) {
	if had, taken := d.aliases[name]; taken && had != uid {
		uid = severalUIDs
	}
	d.aliases[name] = uid
}

// generatedID matches the ids that EC2 and similar services generate: "vol-0a1b2c3d".
var generatedID = regexp.MustCompile(`^[a-z]+-[0-9a-f]{8,17}$`)

// aliasesOf returns the short forms of a native id. For a generated id and for a bucket it is the last segment. For
// other ids it is the last two segments: "instances/web" of
// "//compute.googleapis.com/projects/p/zones/z/instances/web". An id with one segment is its own alias.
func aliasesOf(id string) []string {
	last := lastSegment(id)
	rest := strings.TrimSuffix(id, last)
	switch {
	case last == "":
		return nil
	case rest == "", generatedID.MatchString(last), strings.HasSuffix(rest, ":s3:::"):
		return []string{last}
	}
	if kind := lastSegment(rest[:len(rest)-1]); kind != "" {
		return []string{kind + "/" + last}
	}
	return nil
}

// lastSegment returns the text after the last slash or colon.
func lastSegment(id string) string { return id[strings.LastIndexAny(id, "/:")+1:] }
