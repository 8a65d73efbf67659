// The sign-in: with a password, at a provider, or at the organization's own identity provider. It is a screen, or a dialog
// over the page when a session has expired, so that typed input is kept.
import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor.js";
import { call, prove, refresh, session, signIn, signOut, wanted } from "./api.js";
import { go, Logo, route, withParameters } from "./parts.js";

const text = {
  signIn: "Sign in",
  signingIn: "Signing in…",
  title: "Sign in to Lamplighter",
  again: "Your session has ended",
  againNote: "Sign in again to continue. What you have typed on the page is kept.",
  codeTitle: "Your second factor",
  email: "E-mail",
  password: "Password",
  code: "Code of your authenticator app, or a recovery code",
  with: "Continue with ",
  singleSignOn: "single sign-on",
  leave: "Sign out",
  newTab: "It opens in a new tab. Come back to this one afterwards.",
  passkey: "Your second factor is a passkey only? Sign in by it with another client, or with a recovery code here.",
  expired: "The sign-in took too long, was used already, or was begun in another browser. Please try again.",
  refused: "The provider did not confirm who you are. Please try again, or sign in another way.",
  denied: "You cannot sign in this way. If your address has an account with a password, sign in with it. " +
    "If your organization demands single sign-on, use that. Else ask an administrator of your organization.",
  unavailable: "The sign-in did not work just now. Please try again in a minute.",
};
const names = { google: "Google", github: "GitHub" };

// problem is why a sign-in at a provider failed. The address has a word of the list in shared/people/consolesession and
// never a text, so nobody can make the page say theirs. The word leaves the address at once.
export const problem = (() => {
  const [path, query] = route.value.split("?"),
    word = new URLSearchParams(query).get("signin");
  if (word === null) return undefined;
  go(path + withParameters(query, { signin: "" }), true);
  return ["expired", "refused", "denied"].includes(word) ? text[word] : text.unavailable;
})();

// goTo sends the browser to a provider: this tab, or a new one while the page has input to keep. The new tab is opened
// before the request, because browsers allow that only right after a click.
async function goTo(address, keep) {
  const tab = keep ? open("", "_blank") : window;
  if (tab && keep) tab.opener = null;
  try {
    const at = new URL(await address());
    if (!/^https?:$/.test(at.protocol)) throw new Error(text.unavailable);
    (tab || window).location.assign(at.href);
  } catch (e) {
    if (keep) tab?.close();
    throw e;
  }
}

function Ways({ form, keep, fail }) {
  const [ways, setWays] = useState({ providers: [], singleSignOn: false });
  useEffect(() => {
    call("GET", "auth/providers").then(setWays, () => {}); // then there is the password
  }, []);
  const leave = (address) => goTo(address, keep).catch(fail);
  const single = () => {
    const { email } = form.current;
    if (email.reportValidity())
      leave(async () => (await call("POST", "auth/saml/initiate", { body: { email: email.value, for: "console" } })).redirectURL);
  };
  const known = ways.providers.filter((p) => names[p]);
  return (known.length > 0 || ways.singleSignOn) && html`<div class="ways">${known.map((p) => html`<button type="button" key=${p}
    onClick=${() => leave(async () => (await call("GET", `auth/${p}/url?for=console`)).url)}>${text.with + names[p]}</button>`)}
    ${ways.singleSignOn && html`<button type="button" onClick=${single}>${text.with + text.singleSignOn}</button>`}
    ${keep && html`<small>${text.newTab}</small>`}</div>`;
}

// useSending returns what a form needs: whether its request runs, its error, and the handler that sends its fields.
function useSending(send, first) {
  const [error, setError] = useState(first),
    [busy, setBusy] = useState(false);
  const submit = (e) => {
    e.preventDefault();
    const fields = Object.fromEntries([...new FormData(e.target)].filter(([, v]) => v));
    setBusy(true);
    setError(undefined);
    send(fields)
      .catch(setError)
      .finally(() => setBusy(false));
  };
  return { error, setError, busy, submit };
}

const Outcome = ({ of }) => html`${of.error && html`<p role="alert" class="bad">${of.error.message}</p>`}
  <button class="primary" disabled=${of.busy}>${of.busy ? text.signingIn : text.signIn}</button>`;

function Password({ keep, title }) {
  const of = useSending(signIn, problem && !keep ? new Error(problem) : undefined),
    form = useRef(),
    [asked, setAsked] = useState(false),
    needsCode = /second factor/i.test(of.error?.message);
  useEffect(() => {
    if (needsCode) setAsked(true);
  }, [needsCode]);
  return html`<form ref=${form} onSubmit=${of.submit}><${Logo} size="52" /><h1>${title}</h1>${keep && html`<p>${text.againNote}</p>`}
    <label>${text.email}<input name="email" type="email" autocomplete="username" required autofocus
      defaultValue=${keep ? session.value.user.email : ""} /></label>
    <label>${text.password}<input name="password" type="password" autocomplete="current-password" required /></label>
    ${asked && html`<label>${text.code}<input name="otp" autocomplete="one-time-code" required /></label>`}<${Outcome} of=${of} />
    <${Ways} form=${form} keep=${keep} fail=${of.setError} />
    ${keep && html`<button type="button" class="quiet" onClick=${signOut}>${text.leave}</button>`}</form>`;
}

// Code asks for the second factor of a person whom a provider has signed in.
function Code() {
  const of = useSending(prove);
  return html`<form onSubmit=${of.submit}><${Logo} size="52" /><h1>${text.codeTitle}</h1>
    <label>${text.code}<input name="otp" autocomplete="one-time-code" required autofocus /></label><${Outcome} of=${of} />
    <p class="soft">${text.passkey}</p><button type="button" class="quiet" onClick=${signOut}>${text.leave}</button></form>`;
}

export function SignIn() {
  useEffect(() => {
    document.title = text.title;
  }, []);
  return html`<main class="signin">${wanted.value === "factor" ? html`<${Code} />` : html`<${Password} title=${text.title} />`}</main>`;
}

// SignInAgain is the sign-in over the page. Escape does not close it. When the person comes back from another tab, the
// session may be there.
export function SignInAgain() {
  const box = useRef();
  useLayoutEffect(() => {
    box.current.showModal();
    const look = () => refresh().catch(() => {});
    addEventListener("focus", look);
    return () => removeEventListener("focus", look);
  }, []);
  return html`<dialog ref=${box} class="signin" aria-label=${text.again} onCancel=${(e) => e.preventDefault()}
    onClose=${() => box.current?.showModal()}><${Password} keep title=${text.again} /></dialog>`;
}
