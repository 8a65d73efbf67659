// The parts of which screens are made.
import { html, signal, useEffect, useId, useLayoutEffect, useRef, useState } from "./vendor.js";
import { consolePath, fileBase } from "./api.js";
import { inBothZones, percent, relative } from "./format.js";

const ownRoute = () => location.pathname.slice(consolePath.length).replace(/\/$/, "") + location.search;

// route is the path and the query below /console. The address holds the state of a screen, so that a link shows the same.
export const route = signal(ownRoute());
export const linkTo = (to) => consolePath + to;
export function go(to, replace) {
  history[replace ? "replaceState" : "pushState"](null, "", linkTo(to));
  route.value = to;
}
addEventListener("popstate", () => {
  route.value = ownRoute();
});
addEventListener("click", (e) => {
  const a = e.target.closest?.("a[href]");
  if (!a || a.target || e.ctrlKey || e.metaKey || e.shiftKey || e.button !== 0) return;
  if (a.origin !== location.origin || !(a.pathname + "/").startsWith(consolePath + "/")) return;
  e.preventDefault();
  go(a.pathname.slice(consolePath.length) + a.search);
});

// withParameters returns the query with some of its parameters replaced; "" removes one.
export function withParameters(search, changes) {
  const p = new URLSearchParams(search);
  for (const [k, v] of Object.entries(changes)) v ? p.set(k, v) : p.delete(k);
  const text = p.toString();
  return text ? "?" + text : "";
}
export const valuesOf = (search, name) => (new URLSearchParams(search).get(name) || "").split(",").filter(Boolean);

const drawings = {
  overview: "M4 5h7v6H4zM13 5h7v4h-7zM13 11h7v8h-7zM4 13h7v6H4z",
  resources: "M5 4h14v6H5zM5 14h14v6H5zM8 7h.01M8 17h.01",
  activity: "M3 12h4l3-8 4 16 3-8h4",
  groups: "M12 3l9 5-9 5-9-5zM3 13l9 5 9-5",
  schedules: "M12 7v5l3 2M12 3a9 9 0 100 18 9 9 0 000-18z",
  overrides: "M7 11V7a5 5 0 0110 0v4M5 11h14v9H5z",
  costs: "M4 20V11M10 20V4M16 20v-6M21 20H3",
  savings: "M12 3a9 9 0 100 18 9 9 0 000-18zM12 7v8M8.5 12l3.5 3.5 3.5-3.5",
  anomalies: "M3 17h4l3-3 3 2 3-11 3 12h2",
  budgets: "M4 7h16v11H4zM4 11h16M15 15h2",
  clouds: "M7 18a4 4 0 01-.5-8 6 6 0 0111.5 1.5A3.3 3.3 0 0117.5 18z",
  people: "M12 5a3.5 3.5 0 100 7 3.5 3.5 0 000-7zM5 20a7 7 0 0114 0",
  roles: "M12 3l8 3v5c0 5-3.5 8.5-8 10-4.5-1.5-8-5-8-10V6z",
  audit: "M6 3h12v18H6zM9 8h6M9 12h6M9 16h3",
  notifications: "M6 16V11a6 6 0 0112 0v5l2 2H4zM10 21h4",
  plus: "M12 5v14M5 12h14",
  out: "M12 4v11M7 11l5 5 5-5M5 20h14",
  docs: "M6 3h9l4 4v14H6zM14 3v5h5M9 13h7M9 17h7",
  search: "M11 4a7 7 0 100 14 7 7 0 000-14zM16.5 16.5L21 21",
  close: "M6 6l12 12M18 6L6 18",
  down: "M7 10l5 5 5-5",
  menu: "M4 7h16M4 12h16M4 17h16",
  check: "M5 12l5 5 9-10",
  warn: "M12 4l9 16H3zM12 10v4M12 17h.01",
  play: "M7 5l12 7-12 7z",
  stop: "M7 7h10v10H7z",
  back: "M14 6l-6 6 6 6",
};
export const Icon = ({ of }) => html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true"><path d=${drawings[of]} /></svg>`;
export const Logo = ({ size }) => html`<img src=${fileBase + "lamp.svg"} alt="" width=${size} height=${size} />`;

// Lamp shows a state by shape, word and colour, never by colour alone.
export const Lamp = ({ state }) => html`<span class=${"lamp " + state}><i aria-hidden="true" /><span>${state}</span></span>`;
export const Tag = ({ of, tone = "" }) => html`<span class=${"tag " + tone}>${of}</span>`;
export const Moment = ({ at }) => (at ? html`<time datetime=${at} title=${inBothZones(at)}>${relative(at)}</time>` : "–");

// Page is the head of a screen: its title, a sentence about it, and what can be done.
export function Page({ title, lead, back, children }) {
  useEffect(() => {
    document.title = title + " · Lamplighter";
  }, [title]);
  return html`<header class="page"><div class="titles">
    ${back && html`<a class="back" href=${linkTo(back.to)}><${Icon} of="back" />${back.name}</a>`}
    <h1 tabindex="-1">${title}</h1>${lead && html`<p aria-live="polite">${lead}</p>`}</div><div class="doing">${children}</div></header>`;
}

export function Card({ title, note, more, children, stale, kind = "" }) {
  const id = useId();
  return html`<section class=${"card " + kind} aria-labelledby=${id} aria-busy=${stale ? "true" : null}>
    <header><h2 id=${id}>${title}</h2>${note && html`<p>${note}</p>`}${more}</header>${children}</section>`;
}

// Fault is an error at its place, with the request's ID for the operator.
export const Fault = ({ error, retry }) => html`<div class="fault" role="alert"><${Icon} of="warn" /><div><p>${error.message}</p>
  ${error.requestID && html`<small>Request ${error.requestID}</small>`}</div>${retry && html`<button onClick=${retry}>Try again</button>`}
    </div>`;
export const Ghost = ({ lines = 3 }) =>
  html`<div class="ghosts" aria-hidden="true">${Array.from({ length: lines }, (_, i) => html`<i key=${i} />`)}</div>`;
export const Empty = ({ title, children }) => html`<div class="empty"><${Logo} size="36" /><strong>${title}</strong>${children}</div>`;

// Answer shows what was read, or the error, or lines of the height to come.
export function Answer({ read, lines, children }) {
  if (read.data !== undefined) return children(read.data);
  return read.error ? html`<${Fault} error=${read.error} retry=${read.reload} />` : html`<${Ghost} lines=${lines} />`;
}

export const Tabs = ({ label, value, options, set }) => html`<div class="tabs" role="group" aria-label=${label}>
  ${options.map(([k, text]) => html`<button key=${k} aria-pressed=${String(k === value)} onClick=${() => set(k)}>${text}</button>`)}</div>`;

// Delta compares two amounts. Less is better, because they are costs.
export function Delta({ now, before }) {
  if (!Number(before)) return null;
  const share = Number(now) / Number(before) - 1;
  if (Math.abs(share) < 0.0005) return html`<em class="same">no change</em>`;
  const up = share > 0;
  return html`<em class=${up ? "bad" : "good"}><span aria-hidden="true">${up ? "▲" : "▼"}</span><span class="sr">${up ? "up" : "down"}
    </span> ${percent(Math.abs(share))}</em>`;
}

// Popup is a button with a panel. Escape and a click outside close it.
export function Popup({ label, text, on, children, onOpen, side = "" }) {
  const [open, setOpen] = useState(false),
    box = useRef(),
    id = useId();
  const close = () => setOpen(false);
  useEffect(() => {
    if (!open) return undefined;
    const leave = (e) => {
      if (!box.current.contains(e.target)) close();
    };
    addEventListener("pointerdown", leave);
    box.current.querySelector(".panel :is(input, button, a)")?.focus();
    return () => removeEventListener("pointerdown", leave);
  }, [open]);
  const keys = (e) => {
    if (!open) return;
    if (e.key === "Escape") {
      e.stopPropagation();
      close();
      box.current.querySelector("button").focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (!step) return;
    e.preventDefault();
    const all = [...box.current.querySelectorAll(".panel :is(input, button, a)")],
      at = all.indexOf(document.activeElement);
    all[Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
  };
  const toggle = () => {
    if (!open) onOpen?.();
    setOpen(!open);
  };
  return html`<div class="popup" ref=${box} onKeyDown=${keys}>
    <button type="button" class=${on ? "on" : ""} aria-label=${label} aria-expanded=${String(open)} aria-controls=${id} onClick=${toggle}>
      ${text}</button>
    ${open && html`<div class=${"panel " + side} id=${id}>${children(close)}</div>`}</div>`;
}

// Facet narrows a list by values of one field, each with its count.
export function Facet({ label, values = {}, chosen, set, show = (v) => v, onOpen }) {
  const [find, setFind] = useState("");
  const all = Object.entries(values).sort((a, b) => b[1] - a[1]);
  for (const v of chosen) if (!(v in values)) all.push([v, 0]);
  const seen = all.filter(([v]) => show(v).toLowerCase().includes(find.toLowerCase()));
  const text = chosen.length === 0 ? label : html`${label}: <b>${chosen.length > 1 ? chosen.length : show(chosen[0])}</b>`;
  const toggle = (v) => set(chosen.includes(v) ? chosen.filter((c) => c !== v) : [...chosen, v]);
  return html`<${Popup} text=${html`<span>${text}</span><${Icon} of="down" />`} on=${chosen.length > 0} onOpen=${onOpen}>${() => html`
    ${all.length > 8 && html`<input type="search" placeholder="Find…" aria-label=${"Find in " + label} value=${find}
      onInput=${(e) => setFind(e.target.value)} />`}
    <fieldset><legend class="sr">${label}</legend>${seen.map(
      ([v, n]) => html`<label key=${v} class="option">
      <input type="checkbox" checked=${chosen.includes(v)} onChange=${() => toggle(v)} /><span>${show(v)}</span><small>${n}</small>
        </label>`,
    )}</fieldset>
    ${chosen.length > 0 && html`<button type="button" class="quiet" onClick=${() => set([])}>Clear ${label.toLowerCase()}</button>`}`}<//>`;
}

// Dialog is the browser's own: it keeps the focus inside, and gives it back when it closes.
export function Dialog({ title, close, children }) {
  const box = useRef(),
    id = useId();
  useLayoutEffect(() => {
    box.current.showModal();
  }, []);
  return html`<dialog ref=${box} aria-labelledby=${id} onClose=${close} onClick=${(e) => e.target === box.current && close()}>
    <div class="sheet"><header><h2 id=${id}>${title}</h2><button class="quiet bare" aria-label="Close" onClick=${close}>
      <${Icon} of="close" /></button></header>
    ${children}</div></dialog>`;
}

// Toasts report what goes on outside of a screen.
export const toasts = signal([]);
let lastToast = 0;
export const dismiss = (id) => {
  toasts.value = toasts.value.filter((t) => t.id !== id);
};
export const changeToast = (id, options) => {
  toasts.value = toasts.value.map((t) => (t.id === id ? { ...t, ...options } : t));
};
export function toast(text, options = {}) {
  const id = ++lastToast;
  toasts.value = [...toasts.value, { id, text, ...options }];
  if (options.ms !== 0) setTimeout(() => dismiss(id), options.ms || (options.bad ? 10_000 : 5000));
  return id;
}
