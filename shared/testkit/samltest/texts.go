package samltest

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/beevik/etree"
)

// onBytes returns attacks below the tree.
func onBytes(name, from, to string) Attack {
	return Attack{Name: name, Change: func(doc []byte, host string) []byte {
		out := regexp.MustCompile(from).ReplaceAll(doc, []byte(strings.ReplaceAll(to, "HOST", host)))
		if bytes.Equal(out, doc) {
			return nil
		}
		return out
	}}
}

// besideForged returns an attack with a second root: an unsigned response about another user.
func besideForged(name string, join func(good, forged []byte) [][]byte) Attack {
	forge := OnTree("", func(r *etree.Element) bool { replaceElement(r, forgeResponse(r)); return true })
	return Attack{Name: name, Change: func(doc []byte, host string) []byte {
		doc = regexp.MustCompile(`^<\?xml[^>]*>`).ReplaceAll(doc, nil)
		return bytes.Join(join(doc, forge.Change(doc, host)), nil)
	}}
}

// malformed returns an attack whose result is no XML.
func malformed(a Attack) Attack {
	a.Malformed = true
	return a
}

// Texts are attacks on the bytes of a document.
var Texts = []Attack{
	onBytes("a name changed", Ada, Boss),
	onBytes("one letter of the assertion changed", `(AuthnInstant=")20`, "${1}21"),
	onBytes("a comment in the name", `>ada@`, `>ad<!-- x -->a@`),
	onBytes("a comment that cuts the name", `>ada@example.com<`, `>boss@example.com<!-- -->.ada@example.com<`),
	onBytes("CDATA in the name", `>ada@`, `><![CDATA[ada]]>@`),
	onBytes("a processing instruction in the name", `>ada@`, `>ad<?x y?>a@`),
	onBytes("a DOCTYPE", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x>`),
	onBytes("an external entity", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x [<!ENTITY a SYSTEM "HOST/xxe">]>`),
	onBytes("an external DTD", `^(<\?xml[^>]*>)?`, `<!DOCTYPE x SYSTEM "HOST/dtd">`),
	onBytes("an entity as name", `^(<\?xml[^>]*>)?((?s).*)ada@example.com(.*)$`,
		`<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/passwd">]>${2}&a;${3}`),
	onBytes("an entity bomb", `^(<\?xml[^>]*>)?`,
		`<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "`+strings.Repeat("&a;", 1000)+`"><!ENTITY c "`+
			strings.Repeat("&b;", 1000)+`">]>`),
	onBytes("a comment in the digest", `(DigestValue>)`, `${1}<!-- AAAA -->`), // CVE-2025-29775 (xml-crypto)
	// CVE-2020-29509 to 29511 (encoding/xml): a document that was read and written again had another meaning.
	malformed(onBytes("a name of two colons", `saml:NameID`, `saml::NameID`)),
	malformed(onBytes("an attribute of two colons", ` InResponseTo=`, ` x::InResponseTo="_other" InResponseTo=`)),
	onBytes("a prefix of no name", ` xmlns:saml=`, ` xmlns:="urn:other" xmlns:saml=`),
	onBytes("a directive with a comment", `^(<\?xml[^>]*>)?`, `<!x<!-- -->>`),
	onBytes("an attribute twice, the forged one first", ` InResponseTo=`, ` InResponseTo="_other" InResponseTo=`),
	onBytes("an id twice, the forged one first", `(<[a-z0-9]+:Assertion[^>]*)( ID="[^"]*")`, `${1} ID="_evil"${2}`),
	onBytes("text before the response", `^(<\?xml[^>]*>)?`, `${1}boss@example.com`),
	onBytes("text after the response", `\z`, `boss@example.com`),
	onBytes("a byte of zero after the response", `\z`, "\x00"),
	onBytes("a space that is none of XML after the response", `\z`, "\u00a0"),
	onBytes("a character by its number after the response", `\z`, `&#65;`),
	onBytes("an entity after the response", `\z`, `&x;`),
	onBytes("a comment after the response", `\z`, `<!-- x -->`),
	onBytes("a processing instruction after the response", `\z`, `<?x y?>`),
	onBytes("a second declaration after the response", `\z`, `<?xml version="1.0"?>`),
	onBytes("CDATA after the response", `\z`, `<![CDATA[x]]>`),
	onBytes("a DOCTYPE after the response", `\z`, `<!DOCTYPE x>`),
	onBytes("an element after the response", `\z`, ` <x/>`),
	onBytes("an element before the response", `^(<\?xml[^>]*>)?`, `${1}<x/>`),
	malformed(onBytes("an end after the response", `\z`, `</x>`)),
	onBytes("a beginning after the response", `\z`, `<x>`),
	onBytes("half a tag after the response", `\z`, `<`),
	// CVE-2022-39299 (passport-saml): one root was verified, and another one was read.
	besideForged("a forged response after the genuine one", func(good, forged []byte) [][]byte {
		return [][]byte{good, forged}
	}),
	besideForged("a forged response before the genuine one", func(good, forged []byte) [][]byte {
		return [][]byte{forged, good}
	}),
	besideForged("the genuine response twice", func(good, _ []byte) [][]byte { return [][]byte{good, good} }),
}

// Seeds returns the seeds of a fuzzer: genuine responses that are signed in each way, and the attacked form of each
// by every attack.
func Seeds(t testing.TB, s Response) [][]byte {
	t.Helper()
	var out [][]byte
	for _, signs := range [][2]bool{{true, false}, {false, true}, {true, true}} {
		s.SignAssertion, s.SignResponse = signs[0], signs[1]
		out = append(out, s.Document(t))
	}
	for _, a := range slices.Concat(Wrappings, Texts) {
		for _, good := range out[:3] {
			if doc := a.Change(good, "http://nobody.test"); doc != nil {
				out = append(out, doc)
			}
		}
	}
	return out
}
