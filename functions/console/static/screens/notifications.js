// Notifications: the channels, the events that each gets, and the messages that were sent.
import { html, useState } from "../vendor.js";
import { call, post, useGet } from "../api.js";
import { Answer, Card, Empty, Moment, Page, Tag, toast } from "../parts.js";
import { Act, Cell, List, Name, Row, Table } from "../lists.js";
import { Choice, Field, Form, Sure, Tick } from "../forms.js";
import { capital, plural } from "../format.js";

const text = {
  title: "Notifications",
  channels: "Channels",
  add: "New channel…",
  none: "No channel yet",
  noneNote: "A channel brings events to a chat or a mailbox, for example a budget that is exceeded.",
  test: "Test",
  tested: "The receiver said: ",
  refused: "The receiver refused: ",
  remove: "Delete",
  removeTitle: "Delete the channel",
  removeNote: "Its subscriptions end too.",
  events: "Events…",
  event: "event",
  save: "Save",
  kind: "Kind",
  name: "Name",
  email: "E-mail",
  url: "Webhook address",
  urlNote: "It is a credential: people without notifications:write see its end only.",
  deliveries: "Messages",
  head: { event: "Event", status: "Status", to: "To", at: "When" },
  noMessage: "No message yet",
  noMessageNote: "Messages of the channels appear here, with the receiver's answer.",
};
const kinds = [
  ["email", "E-mail"],
  ["slack", "Slack"],
  ["teams", "Microsoft Teams"],
  ["gchat", "Google Chat"],
];
const tones = { ok: "green", delivered: "green", failing: "warning", retrying: "warning", broken: "bad", parked: "bad" };

function Add({ close, done }) {
  const [type, setType] = useState("email"),
    isMail = type === "email";
  const send = (f) =>
    post("notifications/channels", { type, name: f.name, config: isMail ? { email: f.email } : { webhookURL: f.url } }).then(done);
  return html`<${Form} title=${text.add.replace("…", "")} verb=${text.save} close=${close} send=${send}>
    <div class="pair"><${Choice} label=${text.kind} name="type" options=${kinds} value=${type} set=${setType} />
      <${Field} label=${text.name}><input name="name" required maxlength="100" /><//></div>
    ${
      isMail
        ? html`<${Field} label=${text.email}><input type="email" name="email" required /><//>`
        : html`<${Field} label=${text.url} note=${text.urlNote}><input type="url" name="url" required autocomplete="off" /><//>`
    }<//>`;
}

// Events chooses what a channel gets. Only what was changed is sent.
function Events({ channel, subscriptions, close, done }) {
  const types = useGet("notifications/event-types").data || [];
  const mine = new Map(subscriptions.filter((s) => s.channelID === channel.id && s.scopeType === "org").map((s) => [s.eventType, s]));
  const send = async (f) => {
    const chosen = types
      .filter((t) => f[t.key] === "on" && !mine.has(t.key))
      .map((t) => ({ channelID: channel.id, eventType: t.key, scopeType: "org" }));
    if (chosen.length) await post("notifications/subscriptions/bulk", { subscriptions: chosen });
    for (const [key, s] of mine) if (f[key] !== "on") await call("DELETE", "notifications/subscriptions/" + s.id);
    done();
  };
  return html`<${Form} title=${channel.name} verb=${text.save} close=${close} send=${send} disabled=${types.length === 0}>
    ${Object.entries(Object.groupBy(types, (t) => t.category)).map(
      ([c, list]) => html`<fieldset key=${c}><legend><h3>${capital(c)}</h3></legend>
      ${list.map((t) => html`<${Tick} key=${t.key} name=${t.key} label=${t.name} checked=${mine.has(t.key)} />`)}</fieldset>`,
    )}<//>`;
}

const testChannel = (c) =>
  post(`notifications/channels/${c.id}/test`, {}).then(
    (d) => toast((d.delivered ? text.tested : text.refused) + (d.message || d.status), { bad: !d.delivered, ms: 8000 }),
    (e) => toast(e.message, { bad: true }),
  );

const Channel = ({
  c,
  count,
  open,
}) => html`<li><div class="text grow"><span><b>${c.name}</b> <${Tag} of=${c.status} tone=${tones[c.status]} /></span>
    <small>${c.config.email || c.config.webhookURL}, ${plural(count, text.event)}</small>
    ${c.statusText && html`<small class="bad">${c.statusText}</small>`}</div>
  <span class="end"><${Act} needs="notifications:write" run=${() => testChannel(c)}>${text.test}<//>
    <${Act} needs="notifications:write" run=${() => open({ events: c })}>${text.events}<//>
    <${Act} needs="notifications:write" kind="quiet" run=${() => open({ removing: c })}>${text.remove}<//></span></li>`;

const Message = ({ m, names }) => html`<${Row}><${Name}>${m.eventKey}<small>${m.attempts.at(-1)?.message}</small><//>
  <${Cell}><${Tag} of=${m.status} tone=${tones[m.status]} /><//><${Cell}>${names.get(m.targetID) || m.kind}<//>
  <${Cell} kind="num"><${Moment} at=${m.createdAt} /><//><//>`;

export default function Notifications() {
  const channels = useGet("notifications/channels"),
    subs = useGet("notifications/subscriptions?limit=100");
  const sent = useGet("notifications/deliveries?limit=50"),
    [open, setOpen] = useState(null),
    close = () => setOpen(null),
    h = text.head;
  const list = subs.data?.items || subs.data || [],
    of = (c) => list.filter((s) => s.channelID === c.id).length;
  const names = new Map((channels.data || []).map((c) => [c.id, c.name]));
  const reload = () => [channels, subs, sent].forEach((r) => r.reload());
  const add = (kind) =>
    html`<${Act} needs="notifications:write" kind=${kind} icon="plus" run=${() => setOpen({ adding: true })}>${text.add}<//>`;
  return html`<${Page} title=${text.title} lead=${channels.data && plural(channels.data.length, "channel")}>${add("primary")}<//>
    <div class="body"><${Card} title=${text.channels} stale=${channels.stale}><${Answer} read=${channels} lines=${3}>${(d) =>
      d.length === 0
        ? html`<${Empty} title=${text.none}><p>${text.noneNote}</p>${add("")}<//>`
        : html`<ul class="rows wrap">${d.map((c) => html`<${Channel} key=${c.id} c=${c} count=${of(c)} open=${setOpen} />`)}</ul>`}<//><//>
      <${List} read=${sent} title=${text.deliveries} empty=${[text.noMessage, text.noMessageNote]}>${(d) => html`<${Table}
        label=${text.deliveries} heads=${[[h.event], [h.status], [h.to], [h.at, "num"]]}>${d.items.map(
          (m) => html`<${Message} key=${m.id}
          m=${m} names=${names} />`,
        )}<//>`}<//></div>
    ${open?.adding && html`<${Add} close=${close} done=${reload} />`}
    ${open?.events && subs.data && html`<${Events} channel=${open.events} subscriptions=${list} close=${close} done=${reload} />`}
    ${
      open?.removing &&
      html`<${Sure} title=${`${text.removeTitle} ${open.removing.name}?`} verb=${text.remove} close=${close}
      send=${() => call("DELETE", "notifications/channels/" + open.removing.id).then(reload)}>${text.removeNote}<//>`
    }`;
}
