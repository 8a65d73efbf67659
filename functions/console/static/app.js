// The shell: who is signed in, the navigation, and the screen of the address.
import { html, render, signal, useEffect, useRef, useState } from "./vendor.js";
import { apiBase, can, get, minute, moveTo, offline, patch, pausedUntil, refresh, session, signOut, wanted } from "./api.js";
import { dismiss, Fault, go, Icon, linkTo, Logo, Popup, route, toast, toasts } from "./parts.js";
import { plural } from "./format.js";
import { areas, screens } from "./routes.js";
import { problem, SignIn, SignInAgain } from "./signin.js";

const text = {
  limit: "The organization's 100 requests of this minute are used. Requests resume by themselves in ",
  offline: "No connection. The page may be out of date.",
  noScreen: "There is no such page",
  noScreenNote: "The address may belong to another version of the console.",
  toStart: "To the start page",
  noPolicy: "You have no access to this page",
  noPolicyNote: "It needs one of these policies: ",
  noPolicyWay: ". An administrator of your organization can grant it.",
  skip: "Skip to content",
  more: "More",
  signOut: "Sign out",
  organizations: "Organizations",
  theme: "Theme",
  requests: "This tab's part of the organization's 100 requests a minute",
  system: "Theme of the system",
  light: "Light theme",
  dark: "Dark theme",
  docs: "API docs",
};

const theme = signal(document.documentElement.dataset.theme);
function showTheme(name) {
  if (theme.value === name) return;
  theme.value = document.documentElement.dataset.theme = name;
  localStorage.setItem("lamplighter.theme", name); // for the next visit, before the account is known
}
// setTheme keeps the theme with the account, so that other devices show it too.
function setTheme(name) {
  showTheme(name);
  patch("users/me", { preferences: { theme: name || null } }).catch((e) => toast(e.message, { bad: true }));
}
// A choice of the account replaces the one of the device.
const followAccount = () =>
  get("users/me", { background: true }).then((me) => me.preferences.theme && showTheme(me.preferences.theme), () => {});
const themes = [
  ["", text.system],
  ["light", text.light],
  ["dark", text.dark],
];

const isOpen = (s) => s.policies.some(can);
const entries = () => screens.filter((s) => s.name && isOpen(s));
const found = (path) => {
  for (const s of screens) {
    const m = path.match(s.path);
    if (m) return { screen: s, id: m.groups?.id };
  }
  return undefined;
};

const loaded = new Map();
function useModule(screen) {
  const [error, setError] = useState(),
    [, redraw] = useState(0);
  useEffect(() => {
    setError(undefined);
    if (!screen || loaded.has(screen)) return;
    screen.load().then(
      (m) => {
        loaded.set(screen, m.default);
        redraw((n) => n + 1);
      },
      () => {
        // The file belongs to a version that is gone. The page of the new version is loaded, once.
        const at = "lamplighter.reloaded",
          last = Number(sessionStorage.getItem(at));
        sessionStorage.setItem(at, Date.now());
        Date.now() - last > 60_000 ? location.reload() : setError(new Error(text.offline));
      },
    );
  }, [screen]);
  return { Shown: loaded.get(screen), error };
}

function Screen() {
  const [path, query] = route.value.split("?"),
    at = found(path),
    { Shown, error } = useModule(at?.screen),
    first = useRef(true);
  useEffect(() => {
    if (!Shown) return;
    const main = document.querySelector("main");
    if (!first.current) main.querySelector("h1")?.focus({ preventScroll: true });
    main.scrollTop = 0;
    first.current = false;
  }, [path, Shown]);
  if (!at)
    return html`<div class="empty"><h1 tabindex="-1">${text.noScreen}</h1><p>${text.noScreenNote}</p><a class="button" href=${linkTo("")}>
      ${text.toStart}</a></div>`;
  if (!isOpen(at.screen))
    return html`<div class="empty"><h1 tabindex="-1">${text.noPolicy}</h1><p>
      ${text.noPolicyNote}${at.screen.policies.join(", ")}${text.noPolicyWay}</p></div>`;
  if (error) return html`<${Fault} error=${error} retry=${() => location.reload()} />`;
  return Shown ? html`<${Shown} key=${path} id=${at.id} search=${query ? "?" + query : ""} />` : null;
}

function Links({ here, close }) {
  const open = entries();
  return areas.map((area) => {
    const list = open.filter((s) => s.area === area).map(({ id, to, name }) => ({ id, href: linkTo(to), name }));
    if (area === "Manage") list.push({ id: "docs", href: new URL("docs", apiBase).href, name: text.docs, target: "_blank" });
    return (
      list.length > 0 &&
      html`<h2 key=${area}>${area}</h2><ul>${list.map(
        (l) => html`<li key=${l.id}>
      <a href=${l.href} target=${l.target} aria-current=${here === l.id ? "page" : null} onClick=${close}><${Icon} of=${l.id} /><span>
        ${l.name}</span></a></li>`,
      )}</ul>`
    );
  });
}

// moveToTenant shows the organization's data from the start page, because records of the other one have no address here.
const moveToTenant = (t) => moveTo(t.id).then(
  () => go(""),
  (e) => toast(e.message, { bad: true }),
);

const Tenants = ({ tenants, org }) => tenants.length > 1 && html`<h2>${text.organizations}</h2>${tenants.map((t) => html`<button key=${t.id}
  class="option" aria-pressed=${String(t.id === org)} onClick=${() => moveToTenant(t)}><span>${t.name}</span>
    ${t.id === org && html`<${Icon} of="check" />`}</button>`)}<h2>${text.theme}</h2>`;

const Options = () => html`<${Tenants} tenants=${session.value.tenants} org=${session.value.org} />${themes.map(
  ([k, t]) => html`<button key=${k} class="option" aria-pressed=${String(theme.value === k)} onClick=${() => setTheme(k)}>
    <span>${t}</span>${theme.value === k && html`<${Icon} of="check" />`}</button>`,
)}
  <button class="option" onClick=${signOut}><span>${text.signOut}</span></button>`;

function Countdown() {
  const [, redraw] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => redraw((n) => n + 1), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<span aria-live="off">${Math.max(1, Math.ceil((pausedUntil.value - Date.now()) / 1000))} s</span>`;
}

const Toast = ({ of }) => html`<div class=${"toast" + (of.bad ? " bad" : "")}><span>${of.text}</span>
  ${of.share !== undefined && html`<progress max="1" value=${of.share} aria-label=${of.text} />`}
  ${of.action && html`<button onClick=${of.action.run}>${of.action.label}</button>`}
  <button class="bare" aria-label="Dismiss" onClick=${() => dismiss(of.id)}><${Icon} of="close" /></button></div>`;

function Shell() {
  useEffect(() => {
    followAccount();
  }, []);
  const here = found(route.value.split("?")[0])?.screen.id,
    { user, tenants, org } = session.value,
    name = user.name || user.email;
  const skip = (e) => {
    e.preventDefault();
    document.querySelector("main h1")?.focus();
  };
  return html`<a class="skip" href="#main" onClick=${skip}>${text.skip}</a>
    <nav class="side" aria-label="Pages"><a class="brand" href=${linkTo("")}><${Logo} size="26" /><span>Lamplighter</span></a>
      <div class="links"><${Links} here=${here} /></div>
      <${Popup} side="above" text=${html`<span class="face" aria-hidden="true">${name[0].toUpperCase()}</span><span class="who"><b>${name}
        </b><small>${tenants.find((t) => t.id === org)?.name}</small></span>`}>${() => html`
        <p class="meta">${user.email}</p><p class="meta" title=${text.requests}>${plural(minute.value.used, "request")} in this minute</p>
          <${Options} />`}<//></nav>
    <main id="main">
      ${pausedUntil.value > 0 && html`<p class="notice" role="status">${text.limit}<${Countdown} />.</p>`}
      ${offline.value && html`<p class="notice" role="status">${text.offline}</p>`}<${Screen} /></main>
    <nav class="thumb" aria-label="Pages, within reach">${entries()
      .slice(0, 4)
      .map(
        (s) =>
          html`<a key=${s.id} href=${linkTo(s.to)} aria-current=${here === s.id ? "page" : null}><${Icon} of=${s.id} />${s.name}</a>`,
      )}
      <${Popup} side="above right" text=${html`<${Icon} of="menu" />${text.more}`}>
        ${(close) => html`<${Links} here=${here} close=${close} /><${Options} />`}<//></nav>
    <div class="toasts" role="status">${toasts.value.map((t) => html`<${Toast} key=${t.id} of=${t} />`)}</div>`;
}

function App() {
  const [error, setError] = useState();
  useEffect(() => {
    refresh().then(() => problem && session.value && toast(problem, { bad: true }), setError);
  }, []);
  if (error && !session.value?.policies)
    return html`<main class="signin"><${Fault} error=${error} retry=${() => location.reload()} /></main>`;
  if (session.value === null) return html`<${SignIn} />`;
  if (!session.value?.policies) return html`<p class="boot"><${Logo} size="40" />Lamplighter</p>`;
  return html`<${Shell} key=${session.value.user.id} />${wanted.value === "again" && html`<${SignInAgain} />`}`;
}

found(route.value.split("?")[0])
  ?.screen.load()
  .catch(() => {}); // while the session is restored
if (route.value === "/") go("", true);
const root = document.getElementById("app");
root.replaceChildren();
render(html`<${App} />`, root);
