// One schedule: its hours, what it acts on, and what the evaluator would make of it in the coming week.
import { html, useEffect, useMemo, useState } from "../vendor.js";
import { call, can, change, post, useGet } from "../api.js";
import { Answer, Card, Fault, Ghost, go, Icon, linkTo, Moment, Page, Tag, toast } from "../parts.js";
import { Act } from "../lists.js";
import { Choice, Field, Form, Sure, Tick } from "../forms.js";
import { verb } from "../acts.js";
import { count } from "../format.js";
import { Preview, usePreview } from "./preview.js";
import { clock, cronsIn, dayNames, hoursOf, momentsOf, spansOf, windowsOf } from "../week.js";

const text = {
  back: "Schedules",
  loading: "Schedule",
  make: "New schedule",
  save: "Save",
  saved: "Saved",
  remove: "Delete…",
  removeTitle: "Delete the schedule",
  removeNote: "It stops acting. Resources stay as they are.",
  hours: "Hours",
  runs: "Runs",
  of: "of 168 hours",
  days: "Days",
  from: "from",
  to: "to",
  nextDay: "next day",
  removeHours: "Remove these hours",
  more: "More hours",
  text: "Hours of a week cannot show these crons. They are kept as they are.",
  replace: "Replace them by hours",
  details: "Details",
  name: "Name",
  zone: "Time zone",
  enabled: "Enabled",
  enforce: "Enforce: start and stop again what somebody changes by hand",
  calendars: "Calendars with days off",
  attached: "Attached",
  noAttached: "It acts on nothing yet.",
  saveFirst: "Save the schedule, then attach groups.",
  attach: "Attach a group…",
  attachVerb: "Attach",
  group: "Group",
  detach: "Detach",
  warned: "Attached. ",
};

const asDraft = (s) => ({
  name: s.name,
  timezone: s.timezone,
  windows: windowsOf(s.crons),
  crons: s.crons,
  calendarIDs: s.calendarIDs,
  enabled: s.enabled,
  drift: s.drift,
});
const blank = () => ({
  name: "",
  timezone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  crons: [],
  calendarIDs: [],
  enabled: true,
  drift: "report",
  windows: [{ days: [0, 1, 2, 3, 4], from: "08:00", to: "19:00" }],
});

// Week shows the hours of each day. The form beside it says the same to those who do not see it.
function Week({ crons }) {
  const moments = momentsOf(crons);
  if (!moments) return null;
  const spans = spansOf(moments),
    hours = Math.round(hoursOf(spans));
  return html`<p><b>${text.runs} ${count(hours)}</b> ${text.of}</p><div class="week" aria-hidden="true">${dayNames.map((name, d) => {
    const parts = spans.map(([a, b]) => [Math.max(a - d * 1440, 0), Math.min(b - d * 1440, 1440)]).filter(([a, b]) => b > a);
    return html`<span key=${name}>${name}</span><div key=${name + "lane"} class="lane">${parts.map(
      ([a, b]) => html`<i key=${a}
      title=${`${clock(a)} – ${b === 1440 ? "24:00" : clock(b)}`}
      style=${{ insetInlineStart: a / 14.4 + "%", width: (b - a) / 14.4 + "%" }} />`,
    )}
      </div>`;
  })}<span /><div class="scale">${[0, 6, 12, 18, 24].map((h) => html`<small key=${h}>${h}</small>`)}</div></div>`;
}

function Window({ w, set, remove }) {
  const toggle = (d) => set({ ...w, days: w.days.includes(d) ? w.days.filter((x) => x !== d) : [...w.days, d].sort() });
  return html`<li class="window"><div class="days" role="group" aria-label=${text.days}>${dayNames.map(
    (name, d) => html`<button key=${d}
      type="button" aria-pressed=${String(w.days.includes(d))} onClick=${() => toggle(d)}>${name}</button>`,
  )}</div>
    <button type="button" class="quiet bare" aria-label=${text.removeHours} onClick=${remove}><${Icon} of="close" /></button>
    <div class="hours"><label>${text.from} <input type="time" value=${w.from}
      onChange=${(e) => set({ ...w, from: e.target.value })} /></label>
      <label>${text.to} <input type="time" value=${w.to} onChange=${(e) => set({ ...w, to: e.target.value })} /></label>
      ${w.to <= w.from && html`<${Tag} of=${text.nextDay} />`}</div></li>`;
}

function Hours({ draft, set, presets }) {
  const put = (windows) => set({ windows }),
    list = draft.windows;
  const choose = (p) => set({ windows: windowsOf(p.crons), crons: p.crons, name: draft.name || p.description });
  return html`<${Card} title=${text.hours} note=${draft.timezone}><${Week} crons=${cronsIn(draft)} />
    ${
      list
        ? html`<ul class="windows">${list.map(
            (w, i) => html`<${Window} key=${i} w=${w} set=${(n) => put(list.with(i, n))}
          remove=${() => put(list.toSpliced(i, 1))} />`,
          )}</ul>
        <div class="acts"><button type="button" onClick=${() => put([...list, { days: [5], from: "10:00", to: "16:00" }])}>
          <${Icon} of="plus" />${text.more}</button></div>`
        : html`<p class="none">${text.text}</p><ul class="rows">${draft.crons.map(
            (c, i) => html`<li key=${i}><${Tag} of=${verb(c.action)} />
          <code>${c.cronExpression}</code></li>`,
          )}</ul>
        <div class="acts"><button type="button" onClick=${() => put(blank().windows)}>${text.replace}</button></div>`
    }
    ${
      presets.length > 0 &&
      html`<div class="acts chips">${presets.map(
        (p) => html`<button key=${p.preset} type="button" class="quiet"
      title=${p.description} onClick=${() => choose(p)}>${p.preset.replaceAll("-", " ")}</button>`,
      )}</div>`
    }<//>`;
}

function Details({ draft, set }) {
  const calendars = useGet(can("calendars:read") && "calendars?limit=100&sort_by=name").data?.items || [];
  const flip = (id) => (on) => set({ calendarIDs: on ? [...draft.calendarIDs, id] : draft.calendarIDs.filter((c) => c !== id) });
  return html`<${Card} title=${text.details}><div class="stack"><div class="pair">
      <${Field} label=${text.name}><input value=${draft.name} maxlength="100" onInput=${(e) => set({ name: e.target.value })} /><//>
      <${Field} label=${text.zone}><input list="zones" value=${draft.timezone}
        onChange=${(e) => set({ timezone: e.target.value })} /><//></div>
    <datalist id="zones">${Intl.supportedValuesOf("timeZone").map((z) => html`<option key=${z} value=${z} />`)}</datalist>
    <${Tick} label=${text.enabled} checked=${draft.enabled} set=${(enabled) => set({ enabled })} />
    <${Tick} label=${text.enforce} checked=${draft.drift === "enforce"} set=${(on) => set({ drift: on ? "enforce" : "report" })} />
    ${
      calendars.length > 0 &&
      html`<fieldset><legend class="none">${text.calendars}</legend>${calendars.map(
        (c) => html`<${Tick} key=${c.id}
      label=${c.name} checked=${draft.calendarIDs.includes(c.id)} set=${flip(c.id)} />`,
      )}</fieldset>`
    }</div><//>`;
}

function Attach({ id, close, done }) {
  const groups = useGet("resource-groups?limit=100&sort_by=name").data?.items;
  const send = (f) =>
    post(`schedules/${id}/attachments`, { groupID: f.groupID }).then((a) => {
      if (a.warnings?.length) toast(text.warned + a.warnings[0], { ms: 10_000 });
      done();
    });
  return html`<${Form} title=${text.attach.replace("…", "")} verb=${text.attachVerb} close=${close} send=${send}
    disabled=${!groups?.length}>
    <${Choice} label=${text.group} name="groupID" options=${(groups || []).map((g) => [g.id, g.name])} /><//>`;
}

function Attached({ id, read }) {
  const [adding, add] = useState(false);
  const detach = (a) => call("DELETE", `schedules/${id}/attachments/${a.id}`).then(read.reload, (e) => toast(e.message, { bad: true }));
  const to = (a) => linkTo(a.groupID ? "/groups/" + a.groupID : "/resources/" + a.resourceID);
  return html`<${Card} title=${text.attached} stale=${read.stale}><${Answer} read=${read} lines=${2}>${(d) =>
    d.items.length === 0
      ? html`<p class="none">${text.noAttached}</p>`
      : html`<ul class="rows">${d.items.map(
          (a) => html`<li key=${a.id}><div class="text grow"><a class="name" href=${to(a)}>
          ${a.name || a.resourceUID || a.groupID}</a></div><${Act} needs="schedules:write"
            run=${() => detach(a)}>${text.detach}<//></li>`,
        )}</ul>`}<//>
    ${can("resource-groups:read") && html`<div class="acts"><${Act} needs="schedules:write" icon="plus"
      run=${() => add(true)}>${text.attach}<//></div>`}
    ${adding && html`<${Attach} id=${id} close=${() => add(false)} done=${read.reload} />`}<//>`;
}

export default function Schedule({ id: address }) {
  const id = address === "new" ? "" : address,
    at = id && "schedules/" + encodeURIComponent(id);
  const stored = useGet(at),
    attached = useGet(at && at + "/attachments?limit=100"),
    presets = useGet(!id && "schedules/presets");
  const [draft, setDraft] = useState(id ? null : blank),
    [error, setError] = useState(),
    [removing, remove] = useState(false);
  const s = stored.data,
    back = { to: "/schedules", name: text.back };
  useEffect(() => {
    if (s && !draft) setDraft(asDraft(s));
  }, [s]);
  const preview = usePreview(draft, attached.data),
    unchanged = useMemo(() => s && JSON.stringify(asDraft(s)), [s]);
  if (!draft)
    return html`<${Page} title=${text.loading} back=${back} /><div class="body">
      ${stored.error ? html`<${Fault} error=${stored.error} retry=${stored.reload} />` : html`<${Ghost} lines=${6} />`}</div>`;
  const set = (changes) => setDraft((d) => ({ ...d, ...changes })),
    dirty = JSON.stringify(draft) !== unchanged;
  const save = () => {
    const { windows, crons, ...body } = draft; // crons that nobody changed keep their ids
    if (!s || JSON.stringify(windows) !== JSON.stringify(windowsOf(s.crons))) body.crons = cronsIn(draft);
    setError(undefined);
    (id ? change("PUT", at, body) : post("schedules", body)).then((d) => {
      toast(`${text.saved}: ${d.name}`);
      if (!id) return go("/schedules/" + d.id, true);
      setDraft(asDraft(d));
      return stored.reload();
    }, setError);
  };
  const next = s?.enabled && s.nextFiringAt && html`${verb(s.nextFiringAction)} <${Moment} at=${s.nextFiringAt} />`;
  return html`<${Page} title=${s?.name || text.make} back=${back} lead=${next}>
      ${id && html`<${Act} needs="schedules:write" run=${() => remove(true)}>${text.remove}<//>`}
      <${Act} needs="schedules:write" kind="primary" disabled=${!dirty || !draft.name || cronsIn(draft).length === 0}
        run=${save}>${text.save}<//><//>
    <div class="body">${error && html`<${Fault} error=${error} />`}
      <div class="half"><${Hours} draft=${draft} set=${set} presets=${presets.data || []} /><${Details} draft=${draft} set=${set} /></div>
      <div class="half"><${Preview} read=${preview} />
        ${id ? html`<${Attached} id=${id} read=${attached} />` : html`<${Card} title=${text.attached}><p
          class="none">${text.saveFirst}</p><//>`}
      </div></div>
    ${
      removing &&
      html`<${Sure} title=${`${text.removeTitle} ${s.name}?`} verb=${text.remove.replace("…", "")} close=${() => remove(false)}
      send=${() => call("DELETE", at).then(() => go("/schedules", true))}>${text.removeNote}<//>`
    }`;
}
