package rule

import "testing"

// Rules and overrides come from outside: no text may stop the process, and a text that is read is read the same again.
func FuzzMachineForms(f *testing.F) {
	for _, text := range []string{
		"part:nodes+disks", "bound:to:class", "iops=m.iops_max_14d*1.2 needs=drivers", "copy self", "x-=1,2 y='' z=?",
		`{"a": 5, "b": "336h"}`, `res.a == 'x\' m.b' && p.c > 1.5`, "'", "\"\\", "\xff\x00=@used*1e309",
		"res..x + res.",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := ParseSavings(text); err == nil && s.String() != text {
			t.Errorf("%q is read as %q", text, s)
		}
		for _, v := range verbs {
			got, err := ParseTarget(v, text)
			if err == nil && v != VerbAdvice && len(got.Steps)+len(got.Settings) == 0 {
				t.Errorf("%q of %s changes nothing", text, v)
			}
		}
		params, err := ParseParams(text)
		for _, p := range params {
			if again, same := p.With(p.Text); err != nil || same != nil || again != p {
				t.Errorf("%+v of %q is not read again: %v, %v", p, text, err, same)
			}
		}
		for _, name := range ReferencesOf(text).Facts {
			if name == "" {
				t.Errorf("%q reads a fact without a name", text)
			}
		}
	})
}
