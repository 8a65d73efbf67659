package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
)

func TestZZ_Stat(t *testing.T) {
	db, err := bolt.Open(os.Getenv("ZZ_DB"), 0o600, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_ = db.View(func(tx *bolt.Tx) error {
		fmt.Println("size", tx.Size()>>20, "stats", db.Stats())
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			st := b.Stats()
			fmt.Printf("%s: keys %d leaf alloc %d MB inuse %d MB pages %d overflow %d branch %d MB\n", name, st.KeyN, st.LeafAlloc>>20, st.LeafInuse>>20, st.LeafPageN, st.LeafOverflowN, st.BranchAlloc>>20)
			type s struct{ n, k, v int }
			by := map[string]*s{}
			var sample = map[string]string{}
			b.ForEach(func(k, v []byte) error {
				p := strings.Split(string(k), "#")
				key := ""
				if len(p) > 2 {
					key = p[0] + "#*#" + strings.SplitN(p[2], "\x00", 2)[0]
				} else if len(k) > 6 {
					key = string(k[:6])
				}
				if len(key) > 30 { key = key[:30] }
				if by[key] == nil {
					by[key] = &s{}
					sample[key] = fmt.Sprintf("%q => %.900q", k, v)
				}
				by[key].n++
				by[key].k += len(k)
				by[key].v += len(v)
				return nil
			})
			var keys []string
			for k := range by {
				keys = append(keys, k)
			}
			sort.Slice(keys, func(i, j int) bool { return by[keys[i]].v > by[keys[j]].v })
			for i, k := range keys {
				if i > 6 {
					break
				}
				fmt.Printf("   %q n=%d keys=%d KB vals=%d KB  %s\n", k, by[k].n, by[k].k>>10, by[k].v>>10, sample[k])
			}
			return nil
		})
	})
}
