package auth

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/testkit/apitest"
	"lamplighter.dev/shared/testkit/chromium"
	"lamplighter.dev/shared/testkit/npmpeer"
)

// nodePeer is a program on node that answers each line of JSON with one.
type nodePeer struct {
	testing.TB

	in  io.Writer
	out *bufio.Reader
}

// startNode runs a script in a folder of packages until the test ends. The script defines answer(request).
func startNode(t *testing.T, dir, script string) *nodePeer {
	t.Helper()
	const loop = `
import { createInterface } from 'node:readline';
for await (const line of createInterface({ input: process.stdin })) {
  let out;
  try { out = { value: await answer(JSON.parse(line)) }; } catch (e) { out = { error: String(e) }; }
  console.log(JSON.stringify(out));
}`
	cmd := exec.CommandContext(t.Context(), "node", "--no-warnings", "--input-type=module", "-e", script+loop)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	return &nodePeer{t, in, bufio.NewReader(out)}
}

// ask sends a request, and returns the value of the answer and the exception.
func (n *nodePeer) ask(request object) (value any, exception string) {
	n.Helper()
	if _, err := io.WriteString(n.in, apitest.JSON(request)+"\n"); err != nil {
		n.Fatal(err)
	}
	line, err := n.out.ReadString('\n')
	var out struct {
		Value any
		Error string
	}
	if err == nil {
		err = json.Unmarshal([]byte(line), &out)
	}
	if err != nil {
		n.Fatalf("%s: %v", line, err)
	}
	return out.Value, out.Error
}

// must is ask, without an exception.
func (n *nodePeer) must(request object) any {
	n.Helper()
	value, exception := n.ask(request)
	if exception != "" {
		n.Fatalf("%v: %s", request["do"], exception)
	}
	return value
}

// otplib makes and judges codes; jsQR reads QR codes, from the modules that the SVG draws.
const otplibScript = `
import { generateSync, verifySync } from 'otplib';
import jsqr from 'jsqr';

function readQR(svg) {
  const side = Number(/viewBox="0 0 (\d+) /.exec(svg)[1]), scale = 4, width = side * scale;
  const pixels = new Uint8ClampedArray(width * width * 4).fill(255);
  for (const [, x, y] of svg.matchAll(/M(\d+) (\d+)h1v1h-1z/g))
    for (let i = 0; i < scale * scale; i++) {
      const at = ((y * scale + Math.floor(i / scale)) * width + x * scale + i % scale) * 4;
      pixels.fill(0, at, at + 3);
    }
  return jsqr(pixels, width, width).data;
}

function answer(r) {
  if (r.do === 'read') return readQR(r.svg);
  const secret = new URL(r.url).searchParams.get('secret');
  if (r.do === 'code') return generateSync({ secret, epoch: r.epoch });
  return verifySync({ secret, token: r.code, epoch: r.epoch }).valid;
}`

// An app of other makers reads our QR code, and its codes are ours.
func TestTOTP_OtplibReadsOurQRCodeAndMakesOurCodes(t *testing.T) {
	dir := npmpeer.InstallNode(t, "otplib", "otplib@13.5.0", "jsqr@1.4.0")
	n := startNode(t, dir, otplibScript)
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	setup := apitest.Data[TOTPSetup](h.Call(e.caller, "POST /auth/mfa/totp", nil))
	e.secret = setup.Secret
	url := n.must(object{"do": "read", "svg": setup.QRSVG})
	if url != setup.OTPAuthURL {
		t.Fatalf("jsQR reads %v, want %s", url, setup.OTPAuthURL)
	}
	code := func() string {
		return n.must(object{"do": "code", "url": url, "epoch": h.Clock.Now().Unix()}).(string)
	}
	h.Call(e.caller, "POST /auth/mfa/totp/confirm", object{"otp": code()}).Want(200)
	for range 20 {
		h.Clock.Advance(997 * time.Second)
		if ours := e.code(); n.must(object{
			"do": "verify", "url": url, "code": ours,
			"epoch": h.Clock.Now().Unix(),
		}) != true {
			t.Errorf("otplib refuses %s", ours)
		}
		used := code()
		e.logInWith(200, used)
		e.logInWith(401, used)
	}
}

// The emulator of an authenticator makes passkeys; another maker's library for servers judges its answers as we do.
const emulatorScript = `
import { WebAuthnEmulator } from 'nid-webauthn-emulator';
import { verifyAuthenticationResponse, verifyRegistrationResponse } from '@simplewebauthn/server';

const emulator = new WebAuthnEmulator();
const stored = {};

async function answer(r) {
  switch (r.do) {
    case 'create': return emulator.createJSON(r.origin, r.options);
    case 'get': return emulator.getJSON(r.origin, r.options);
    case 'judgeCreation': {
      const v = await verifyRegistrationResponse({ response: r.response, expectedChallenge: r.challenge,
        expectedOrigin: r.origin, expectedRPID: r.rp, requireUserVerification: true });
      if (v.verified) stored[v.registrationInfo.credential.id] = v.registrationInfo.credential;
      return v.verified;
    }
    case 'judge': {
      const credential = stored[r.response.id];
      const v = await verifyAuthenticationResponse({ response: r.response, expectedChallenge: r.challenge,
        expectedOrigin: r.origin, expectedRPID: r.rp, credential, requireUserVerification: true });
      if (v.verified) credential.counter = v.authenticationInfo.newCounter;
      return v.verified;
    }
  }
}`

const serviceOrigin, serviceHost = "https://lamplighter.test", "lamplighter.test"

// judge asks the other library, and returns whether it accepts.
func (n *nodePeer) judge(what string, response, challenge any) bool {
	n.Helper()
	value, exception := n.ask(object{
		"do": what, "response": response, "challenge": challenge, "origin": serviceOrigin, "rp": serviceHost,
	})
	return exception == "" && value == true
}

func TestPasskeys_AnEmulatorAndAServerLibraryOfNpmAgree(t *testing.T) {
	dir := npmpeer.InstallNode(t, "webauthn", "nid-webauthn-emulator@0.2.11", "@simplewebauthn/server@14.0.3")
	n := startNode(t, dir, emulatorScript)
	h := newFixture(t).quickly()
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}
	options := apitest.Data[object](h.Call(e.caller, "POST /auth/mfa/passkeys"))
	made := n.must(object{"do": "create", "origin": serviceOrigin, "options": options}).(object)
	if !n.judge("judgeCreation", made, options["challenge"]) {
		t.Error("the library refuses the registration")
	}
	made["name"] = "Emulator"
	h.Call(e.caller, "POST /auth/mfa/passkeys/confirm", made).Want(200)

	logIn := func(want bool, change func(response object)) {
		t.Helper()
		options := e.options("")
		got := n.must(object{"do": "get", "origin": serviceOrigin, "options": options}).(object)
		if change != nil {
			response := maps.Clone(got["response"].(object))
			change(response)
			got["response"] = response
		}
		status, b, _ := h.call("POST", "/auth/login/passkey/confirm", got)
		if theirs := n.judge("judge", got, options["challenge"]); (status == http.StatusOK) != want || theirs != want {
			t.Errorf("we answer %d %s, the library %v, want %v", status, b, theirs, want)
		}
	}
	logIn(true, nil)
	logIn(true, nil)
	var old object
	logIn(true, func(r object) { old = maps.Clone(r) })
	logIn(false, func(r object) { maps.Copy(r, old) })
	logIn(false, func(r object) { r["signature"] = old["signature"] })
	logIn(false, func(r object) { r["authenticatorData"] = old["authenticatorData"] })
	logIn(false, func(r object) { r["clientDataJSON"] = old["clientDataJSON"] })
	logIn(true, nil)

	other, exception := n.ask(object{"do": "get", "origin": "https://evil.test", "options": e.options("")})
	if exception == "" {
		t.Errorf("a page of another origin got %v", other)
	}
}

// inPage are the functions of a page that uses passkeys: what a client of this service needs, and no more.
const inPage = `
globalThis.post = async (path, body) => {
  const r = await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body) });
  return { status: r.status, body: await r.json() };
};
globalThis.register = async (options) => (await navigator.credentials.create({
  publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) })).toJSON();
globalThis.sign = async (options) => (await navigator.credentials.get({
  publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) })).toJSON();
globalThis.logIn = async () => post('/auth/login/passkey/confirm',
  await sign((await post('/auth/login/passkey', {})).body.data));
'ready'`

// The whole way in a browser, with its virtual authenticator, against the service at an address of this machine.
func TestPasskeys_AVirtualAuthenticatorInChromium(t *testing.T) {
	tab := chromium.Open(t)
	h := newFixture(t).quickly()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.Handler.ServeHTTP(w, r)
	}))
	t.Cleanup(srv.Close)
	h.Settings.BaseURL = srv.URL // an IP address: passkeys are of localhost
	page := strings.Replace(srv.URL, "127.0.0.1", "localhost", 1) + "/.well-known/jwks.json"
	h.register()
	e := &enrolled{fixture: h, caller: h.callerOf(h.logIn())}

	key := tab.AddAuthenticator()
	tab.Visit(page)
	if got := tab.Evaluate(inPage); got != "ready" {
		t.Fatal(got)
	}
	begin := func() string { return apitest.JSON(apitest.Data[object](h.Call(e.caller, "POST /auth/mfa/passkeys"))) }
	made, ok := tab.Evaluate("register(" + begin() + ")").(object)
	if !ok {
		t.Fatalf("no credential: %v", made)
	}
	made["name"] = "Chromium"
	added := apitest.Data[AddedPasskey](h.Call(e.caller, "POST /auth/mfa/passkeys/confirm", made))
	again := fmt.Sprint(tab.Evaluate("register(" + begin() + ")"))
	if !strings.Contains(again, "InvalidStateError") {
		t.Errorf("the same authenticator again: %s", again)
	}
	for range 2 {
		in := tab.Evaluate("logIn()").(object)
		if in["status"] != 200.0 {
			t.Fatalf("log-in: %v", in)
		}
		if s := h.sessionOf(in["body"].(object)["data"].(object)); s.User != e.caller.User || s.Proved == 0 {
			t.Errorf("session %+v", s)
		}
	}
	if st := e.status(e.caller); len(st.Passkeys) != 1 || st.Passkeys[0].LastUsedAt == nil ||
		st.Passkeys[0].ID != added.ID {
		t.Errorf("%+v", st)
	}
	tab.Command("WebAuthn.setUserVerified", object{"authenticatorId": key, "isUserVerified": false}, nil)
	if got := fmt.Sprint(tab.Evaluate("logIn()")); !strings.Contains(got, "NotAllowedError") {
		t.Errorf("without verification: %s", got)
	}
	tab.Command("WebAuthn.setUserVerified", object{"authenticatorId": key, "isUserVerified": true}, nil)
	tab.Visit(srv.URL + "/.well-known/jwks.json") // another origin, of the same service
	tab.Evaluate(inPage)
	if got := fmt.Sprint(tab.Evaluate("logIn()")); !strings.Contains(got, "SecurityError") {
		t.Errorf("from another origin: %s", got)
	}
	e.Call(identity.Caller{}, "POST /auth/login", object{"email": ada, "password": password}).Want(403,
		"a second factor")
}
