// One cloud account: whether it works, and which permissions it lacks.
import { html, useState } from "../vendor.js";
import { call, get, post, useGet } from "../api.js";
import { Answer, Card, Fault, Ghost, go, linkTo, Moment, Page, Tag, toast } from "../parts.js";
import { Act } from "../lists.js";
import { Sure } from "../forms.js";
import { count, plural } from "../format.js";
import { toneOf } from "./clouds.js";

const text = {
  back: "Clouds",
  loading: "Cloud account",
  discover: "Discover now",
  discovering: "Discovering…",
  discovered: "Discovery",
  remove: "Disconnect…",
  removeTitle: "Disconnect",
  removeNote: "Its credentials are deleted, and its resources leave the lists. Nothing changes in the cloud.",
  facts: "Facts",
  provider: "Provider",
  id: "Provider's id",
  level: "Permission",
  method: "Sign-in",
  environment: "Environment",
  regions: "Regions",
  allRegions: "all",
  resources: "Resources",
  discoveredAt: "Discovered",
  synced: "Synchronized",
  permissions: "Permissions",
  note: "asked from the cloud now",
  granted: "granted",
  all: "Everything is granted that this account needs.",
};
const pollEvery = 1500; // ms

const Facts = ({ rows }) =>
  html`<dl class="list">${rows.filter(([, v]) => v).map(([k, v]) => html`<div key=${k}><dt>${k}</dt><dd>${v}</dd></div>`)}</dl>`;

const Missing = (p) => html`<li key=${p.capability + p.action}><div class="text grow"><code>${p.action}</code>
  ${p.message && html`<small class="bad">${p.message}</small>`}</div><${Tag} of=${p.status}
    tone=${p.status === "denied" ? "bad" : ""} /></li>`;

function Permissions({ list }) {
  const by = Object.entries(Object.groupBy(list, (p) => p.capability)),
    missing = list.filter((p) => p.status !== "granted");
  return html`<ul class="rows">${by.map(([name, rows]) => {
    const ok = rows.filter((p) => p.status === "granted").length;
    return html`<li key=${name}><div class="text grow"><span>${name.replaceAll("_", " ")}</span></div><span class="end">
      <${Tag} of=${`${count(ok)} / ${count(rows.length)} ${text.granted}`}
        tone=${ok === rows.length ? "green" : "warning"} /></span></li>`;
  })}</ul>${missing.length === 0 ? html`<p class="none spaced">${text.all}</p>` : html`<ul
    class="rows spaced">${missing.map(Missing)}</ul>`}`;
}

// discover starts a discovery and waits for its end.
async function discover(id) {
  const job = await post(`cloud-accounts/${id}/discover`, {});
  for (;;) {
    const d = await get(`cloud-accounts/${id}/discover/${job.jobID}`, { background: true });
    if (["succeeded", "partial", "failed"].includes(d.status)) return d;
    await new Promise((r) => setTimeout(r, pollEvery));
  }
}

export default function Cloud({ id }) {
  const at = "cloud-accounts/" + encodeURIComponent(id),
    read = useGet(at),
    permissions = useGet(at + "/permissions");
  const [busy, setBusy] = useState(false),
    [removing, remove] = useState(false),
    a = read.data,
    back = { to: "/clouds", name: text.back };
  if (!a)
    return html`<${Page} title=${text.loading} back=${back} /><div class="body">
      ${read.error ? html`<${Fault} error=${read.error} retry=${read.reload} />` : html`<${Ghost} lines=${6} />`}</div>`;
  const look = () => {
    setBusy(true);
    discover(a.id)
      .then(
        (d) => toast(`${text.discovered}: ${d.status}`, { bad: d.status === "failed" }),
        (e) => toast(e.message, { bad: true }),
      )
      .finally(() => {
        setBusy(false);
        read.reload();
      });
  };
  const gone = () => call("DELETE", at).then(() => go("/clouds", true));
  return html`<${Page} title=${a.name} back=${back} lead=${html`<${Tag} of=${a.status} tone=${toneOf[a.status]} />`}>
      <${Act} needs="cloud-accounts:write" run=${() => remove(true)}>${text.remove}<//>
      <${Act} needs="cloud-accounts:write" kind="primary" disabled=${busy} run=${look}>${busy ? text.discovering : text.discover}<//><//>
    <div class="body">${a.error && html`<${Fault} error=${new Error(a.error)} />`}
      <div class="half"><${Card} title=${text.facts} stale=${read.stale}><${Facts} rows=${[
        [text.provider, a.provider],
        [text.id, html`<code>${a.cloudAccountID}</code>`],
        [text.level, a.permissionLevel.replaceAll("_", " ")],
        [text.method, a.authMethod.replaceAll("_", " ")],
        [text.environment, a.environment],
        [text.regions, a.regions.join(", ") || text.allRegions],
        [text.resources, html`<a href=${linkTo("/resources?cloud_account_id=" + a.id)}>${plural(a.resourceCount, "resource")}</a>`],
        [text.discoveredAt, html`<${Moment} at=${a.lastDiscoveredAt} />`],
        [text.synced, html`<${Moment} at=${a.lastSyncedAt} />`],
      ]} /><//></div>
      <div class="half"><${Card} title=${text.permissions} note=${text.note} stale=${permissions.stale}><${Answer}
        read=${permissions} lines=${5}>
        ${(list) => html`<${Permissions} list=${list} />`}<//><//></div></div>
    ${
      removing &&
      html`<${Sure} title=${`${text.removeTitle} ${a.name}?`} verb=${text.removeTitle} close=${() => remove(false)} send=${gone}>
      ${text.removeNote}<//>`
    }`;
}
