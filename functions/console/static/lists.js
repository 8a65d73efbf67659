// The parts of lists: tables that phones show as rows of two lines, pages, and what can be chosen.
import { html } from "./vendor.js";
import { can } from "./api.js";
import { Answer, Empty, Icon } from "./parts.js";
import { count } from "./format.js";

const text = { page: "Page", of: "of", newer: "Back", older: "Next", needs: "It needs the policy " };

// Table has its roles as attributes, because rows on phones are grids. heads are [text, class]; a column "far" is left out
// on phones.
export const Table = ({ label, heads, children }) => html`<table role="table" aria-label=${label}><thead role="rowgroup"><tr role="row">
  ${heads.map(([name, kind]) => html`<th key=${name} scope="col" role="columnheader" class=${kind || ""}>${name}</th>`)}</tr></thead>
  <tbody role="rowgroup">${children}</tbody></table>`;
export const Row = ({ children }) => html`<tr role="row">${children}</tr>`;
export const Name = ({ children }) => html`<th scope="row" role="rowheader">${children}</th>`;
export const Cell = ({ kind = "", title, children }) => html`<td role="cell" class=${kind} title=${title}>${children}</td>`;

export const pageOf = (search) => Math.max(1, Number(new URLSearchParams(search).get("page")) || 1);

// Pages moves through a list. set gets the parameter of the address.
export function Pages({ page, total, size, set }) {
  const last = Math.ceil(total / size);
  if (last <= 1) return null;
  const to = (n) => set({ page: n > 1 ? String(n) : "" });
  return html`<nav class="pages" aria-label=${text.page}><button disabled=${page <= 1}
    onClick=${() => to(page - 1)}>${text.newer}</button>
    <span>${text.page} ${count(page)} ${text.of} ${count(last)}</span>
    <button disabled=${page >= last} onClick=${() => to(page + 1)}>${text.older}</button></nav>`;
}

// List is a card with the rows of an answer, or with the reason why there are none. empty is [title, note, way out].
export const List = ({ read, label, title, note, more, empty, lines = 8, rows = (d) => d.items, children }) => html`
  <section class="card flush" aria-label=${title || label} aria-busy=${read.stale ? "true" : null}>
  ${title && html`<header class="inset"><h2>${title}</h2>${note && html`<p>${note}</p>`}${more}</header>`}
  <${Answer} read=${read} lines=${lines}>${(d) =>
    rows(d).length === 0 ? html`<${Empty} title=${empty[0]}><p>${empty[1]}</p>${empty[2]}<//>` : children(d)}<//></section>`;

export const Select = ({ label, value, options, set }) => html`<label class="select"><span>${label}</span>
  <select value=${value} onChange=${(e) => set(e.target.value)}>${options.map(
    ([k, name]) => html`<option key=${k} value=${k} selected=${k === value}>${name}</option>`,
  )}</select></label>`;

// Act is a button for an act that needs a policy. Without it, it is disabled and says which.
export const Act = ({
  needs,
  run,
  kind = "",
  icon,
  label,
  disabled,
  children,
}) => html`<button type="button" class=${kind} aria-label=${label}
  disabled=${disabled || !can(needs)} title=${can(needs) ? null : text.needs + needs} onClick=${run}>
  ${icon && html`<${Icon} of=${icon} />`}${children}</button>`;
