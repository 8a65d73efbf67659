// The audit log: who changed what, and whether the chain of its rows holds.
import { html, useState } from "../vendor.js";
import { download, get, useGet } from "../api.js";
import { Facet, Fault, go, Page, Tag, toast, valuesOf, withParameters } from "../parts.js";
import { Act, Cell, List, Name, pageOf, Pages, Row, Table } from "../lists.js";
import { capital, inBothZones, moment, plural } from "../format.js";

const text = {
  title: "Audit log",
  verify: "Verify",
  verifying: "Verifying…",
  export: "Export CSV",
  search: "Address of a person",
  target: "Id of a record",
  category: "Category",
  head: { act: "Act", result: "Result", who: "Who", at: "When", target: "Record", ip: "Address" },
  none: "Nothing matches",
  noneNote: "Each request that changes something, and each refused one, is a row.",
  holds: "The chain holds: no row was changed, removed or inserted.",
  broken: "The chain is broken at row ",
  rows: "row",
  anchor: "Anchor outside of the store",
};
const size = 50;
const categories = { platform: "", scheduling: "", cost: "", provisioning: "", deployments: "" };

// verify follows the chain to its end; a long log is verified in parts.
async function verify() {
  let rows = 0,
    v = { next: "" };
  do {
    v = await get("audit-logs/verify" + (v.next ? "?cursor=" + encodeURIComponent(v.next) : ""));
    rows += v.rows;
  } while (v.holds && !v.complete);
  return { ...v, rows };
}

const Verdict = ({ v }) => html`<section class="card" role="status"><p><${Tag} of=${v.holds ? "holds" : "broken"}
    tone=${v.holds ? "green" : "bad"} /> ${v.holds ? text.holds : text.broken + v.brokenAt}</p>
  <small>${plural(v.rows, text.rows)}.${" "}
    ${v.anchor && `${text.anchor}: ${v.anchor.state.replaceAll("_", " ")}. ${capital(v.anchor.why || " ")}`}
  </small><p><code>${v.hash}</code></p></section>`;

const said = (action) => capital(action.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase());

const Line = ({ a }) => html`<${Row}><${Name}>${said(a.action)}<small>${a.resourceType}</small><//>
  <${Cell}><${Tag} of=${String(a.status)} tone=${a.status >= 400 ? "bad" : "green"} /><//>
  <${Cell}>${a.actor}<//><${Cell} kind="num"><time datetime=${a.at} title=${inBothZones(a.at)}>${moment(a.at)}</time><//>
  <${Cell} kind="far"><code>${a.target || a.path}</code><//><${Cell} kind="far">${a.ip}<//><//>`;

export default function Audit({ search }) {
  const p = new URLSearchParams(search),
    page = pageOf(search),
    [verdict, setVerdict] = useState({}),
    h = text.head;
  const query = new URLSearchParams({ limit: size, page });
  for (const k of ["email", "target", "include"]) if (p.get(k)) query.set(k, p.get(k));
  const read = useGet("audit-logs?" + query),
    set = (changes) => go("/audit" + withParameters(search, { page: "", ...changes }), true);
  const check = () => {
    setVerdict({ busy: true });
    verify().then(
      (v) => setVerdict({ v }),
      (error) => setVerdict({ error }),
    );
  };
  const save = () => download("audit-logs/export?format=csv", "audit.csv").catch((e) => toast(e.message, { bad: true }));
  const input = (name, label) => html`<input type="search" aria-label=${label} placeholder=${label} value=${p.get(name) || ""}
    onChange=${(e) => set({ [name]: e.target.value.trim() })} />`;
  return html`<${Page} title=${text.title} lead=${read.data && plural(read.data.total, text.rows)}>
      <${Act} needs="audit-logs:read" icon="out" run=${save}>${text.export}<//>
      <${Act} needs="audit-logs:read" kind="primary" disabled=${verdict.busy}
        run=${check}>${verdict.busy ? text.verifying : text.verify}<//><//>
    <form class="filters" role="search" onSubmit=${(e) => e.preventDefault()}>${input("email", text.search)}${input("target", text.target)}
      <div class="chips"><${Facet} label=${text.category} values=${categories} show=${capital} chosen=${valuesOf(search, "include")}
        set=${(v) => set({ include: v.join(",") })} /></div></form>
    <div class="body">${verdict.v && html`<${Verdict} v=${verdict.v} />`}${verdict.error && html`<${Fault} error=${verdict.error}
      retry=${check} />`}
      <${List} read=${read} label=${text.title} empty=${[text.none, text.noneNote]}>${(d) => html`<${Table} label=${text.title}
        heads=${[[h.act], [h.result], [h.who], [h.at, "num"], [h.target, "far"], [h.ip, "far"]]}>
        ${d.items.map((a) => html`<${Line} key=${a.id} a=${a} />`)}<//>`}<//>
      <${Pages} page=${page} size=${size} total=${read.data?.total || 0} set=${set} /></div>`;
}
