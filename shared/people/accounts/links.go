package accounts

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
)

// linkListPrefix is the prefix of the sort keys of an account's list of links to identity providers. The rest of the
// sort key is that of the link's partition, which contains neither the provider nor the person.
const linkListPrefix = "IDENT#"

// listLink returns the write that puts a link on the list of its account.
func listLink(user string, link table.Key) (table.Write, error) {
	hash := strings.TrimPrefix(link.PK, LinkPrefix)
	it, err := table.NewItem(table.Key{PK: identity.UserPrefix + user, SK: linkListPrefix + hash}, struct{}{})
	return table.Put(it), err
}

// listOldLink lists a link that an earlier version made. The next sign-in repeats a failure, so it is only logged.
func (a Accounts) listOldLink(ctx context.Context, link table.Key, tie identityLink) {
	listed, err := listLink(tie.User, link)
	if err == nil {
		err = a.Table.Transact(table.WithoutAttachment(ctx),
			table.Update(link, []table.Change{table.Set("listed", true)}, table.Equal("user", tie.User)), listed)
	}
	if err != nil {
		a.Log.WarnContext(ctx, "a link to an identity provider was not listed", "user", tie.User, "error", err.Error())
	}
}

// maxLinks is the number of links of one read.
const maxLinks = 1_000

// RemoveLinks removes the links of a deleted account to identity providers. The context must allow the user's
// partition and LinkPrefix.
func RemoveLinks(ctx context.Context, s table.Store, user string) error {
	for q := (table.Query{PK: identity.UserPrefix + user, Prefix: linkListPrefix, Limit: maxLinks}); ; {
		page, err := s.Query(ctx, q)
		if err != nil {
			return fmt.Errorf("list the links of %s: %w", user, err)
		}
		for _, it := range page.Items {
			k := table.Key{PK: LinkPrefix + strings.TrimPrefix(it.SK, linkListPrefix), SK: "I"}
			_, err = s.Write(ctx, table.Delete(k, table.Equal("user", user)))
			if _, others := errors.AsType[*table.ConditionError](err); err != nil && !others {
				return fault.Wrap("remove a link of "+user, err)
			}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}
