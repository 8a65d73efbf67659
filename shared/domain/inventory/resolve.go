package inventory

import (
	"cmp"
	"hash/maphash"
	"slices"
	"strings"

	"lamplighter.dev/shared/domain/inventory/index"
)

// Bills name a resource by its service's name, which may differ from the native id that discovery knows: a volume by
// "vol-…" when its id is an ARN; an EC2 instance by its ARN when its id is "i-…"; in Azure by the same id in another
// case; in Google Cloud with the project number in place of the project name. A name that matches several resources
// resolves to none.

// resolve finds the row of a billed id. It needs the read lock.
func (d *Directory) resolve(accountID, billed string) (index.Row, bool) {
	st := d.view.st
	for _, uid := range []string{billed, strings.ToLower(billed), lastSegment(billed)} {
		if r, ok := st.RowByUID(uid); ok {
			return r, true
		}
	}
	if d.aliases == nil {
		d.aliases = newAliases(st)
	}
	for _, alias := range aliasesOf(billed) {
		for _, account := range []string{accountID, everyAccount} {
			n, unique := d.aliases.find(account, alias)
			if !unique {
				continue
			}
			if r := st.Row(n); hasAlias(r, account, alias) {
				return r, true
			}
		}
	}
	return index.Row{}, false
}

// everyAccount is the account of the aliases of all accounts.
const everyAccount = ""

// hasAlias compares the alias itself, since different ones may have the same hash.
func hasAlias(r index.Row, account, alias string) bool {
	return slices.Contains(aliasesOf(r.UID()), alias) &&
		(account == everyAccount || r.Word(index.AccountRef) == account)
}

// aliases are the aliases of all resources, per account and overall, by their hashes: 16 bytes each.
type aliases struct {
	seed  maphash.Seed
	named []aliased // by hash; each hash once
}

// aliased is the row with an alias; several for an alias of several rows.
type aliased struct {
	sum uint64
	row int32
}

const several = -1

// newAliases returns the aliases of the rows of an index, whose read lock it needs.
func newAliases(st *index.State) *aliases {
	a := &aliases{seed: maphash.MakeSeed()}
	for n, r := range st.NumberedRows() {
		for _, alias := range aliasesOf(r.UID()) {
			a.named = append(a.named, aliased{a.sum(everyAccount, alias), n},
				aliased{a.sum(r.Word(index.AccountRef), alias), n})
		}
	}
	slices.SortFunc(a.named, func(x, y aliased) int { return cmp.Compare(x.sum, y.sum) })
	kept := a.named[:0]
	for _, one := range a.named {
		if last := len(kept) - 1; last >= 0 && kept[last].sum == one.sum {
			kept[last].row = several
			continue
		}
		kept = append(kept, one)
	}
	a.named = kept
	return a
}

func (a *aliases) sum(account, alias string) uint64 {
	return maphash.Comparable(a.seed, [2]string{account, alias})
}

// find returns the number of the only row with an alias in an account. It returns false if there is none, or several.
func (a *aliases) find(account, alias string) (row int32, unique bool) {
	sum := a.sum(account, alias)
	i, ok := slices.BinarySearchFunc(a.named, sum, func(one aliased, sum uint64) int {
		return cmp.Compare(one.sum, sum)
	})
	if !ok || a.named[i].row == several {
		return 0, false
	}
	return a.named[i].row, true
}

// isGenerated reports whether an id has the form of those that EC2 and similar services generate: "vol-0a1b2c3d", with
// 8 to 17 hexadecimal digits.
func isGenerated(id string) bool {
	kind, digits, _ := strings.Cut(id, "-")
	if kind == "" || len(digits) < 8 || len(digits) > 17 {
		return false
	}
	for _, c := range []byte(kind) {
		if c < 'a' || c > 'z' {
			return false
		}
	}
	for _, c := range []byte(digits) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

// aliasesOf returns the short forms of a native id. For a generated id and for a bucket it is the last segment. For
// other ids it is the last two segments: "instances/web" of
// "//compute.googleapis.com/projects/p/zones/z/instances/web". An id with one segment is its own alias.
func aliasesOf(id string) []string {
	last := lastSegment(id)
	rest := strings.TrimSuffix(id, last)
	switch {
	case last == "":
		return nil
	case rest == "", isGenerated(last), strings.HasSuffix(rest, ":s3:::"):
		return []string{last}
	}
	if kind := lastSegment(rest[:len(rest)-1]); kind != "" {
		return []string{kind + "/" + last}
	}
	return nil
}

// lastSegment returns the text after the last slash or colon.
func lastSegment(id string) string { return id[strings.LastIndexAny(id, "/:")+1:] }
