// Holding resources on or off for a time, and links that wake them without a sign-in.
import { html, useState } from "./vendor.js";
import { call, post } from "./api.js";
import { Dialog, toast } from "./parts.js";
import { Choice, Field, Form } from "./forms.js";

const text = {
  hold: "Hold",
  note: "It acts at once and overrides schedules. At its end the resources get the state that their schedules want then.",
  state: "Keep them",
  on: "Running",
  off: "Stopped",
  until: "Until, in your time zone",
  reason: "Why",
  reasonNote: "Others read it beside the override.",
  held: "is held until the time you chose",
  wake: "New wake link",
  make: "Make the link",
  wakeNote:
    "Everybody who has the link can start these resources without signing in. They are stopped again at the next stop of " +
    "their schedules, at the latest after the hours below.",
  name: "Name",
  hours: "Hours at most",
  starts: "Starts a day",
  expires: "The link ends on",
  once: "The address is shown only now. Copy it.",
  address: "Address",
  copy: "Copy",
  copied: "Copied",
  close: "Close",
};

// localInput returns a time as the value of a field of the type datetime-local.
const localInput = (t) => new Date(t - new Date(t).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
const hour = 3_600_000;
const asTime = (local) => new Date(local).toISOString();

// Hold asks how long the target is held. of is { name, body } with the groupID or the resourceUID.
export function Hold({ of, close, done }) {
  const send = (f) =>
    post("overrides", { ...of.body, action: f.action, reason: f.reason, expiresAt: asTime(f.until) }).then(() => {
      toast(`${of.name} ${text.held}`);
      done();
    });
  return html`<${Form} title=${`${text.hold} ${of.name}`} verb=${text.hold} close=${close} send=${send}><p>${text.note}</p>
    <div class="pair"><${Choice} label=${text.state} name="action" options=${[
      ["force_on", text.on],
      ["force_off", text.off],
    ]} />
      <${Field} label=${text.until}><input type="datetime-local" name="until" required
        value=${localInput(Date.now() + 4 * hour)} /><//></div>
    <${Field} label=${text.reason} note=${text.reasonNote}><input name="reason" maxlength="500" /><//><//>`;
}

function Address({ url, close }) {
  const copy = () => navigator.clipboard.writeText(url).then(() => toast(text.copied));
  return html`<${Dialog} title=${text.wake} close=${close}><div class="inside"><p>${text.once}</p>
    <${Field} label=${text.address}><input readonly value=${url} onFocus=${(e) => e.target.select()} /><//></div>
    <footer><button onClick=${close}>${text.close}</button><button class="primary" onClick=${copy}>${text.copy}</button></footer><//>`;
}

// Wake makes a link. path is that of the wake links of the target.
export function Wake({ path, close, done }) {
  const [made, setMade] = useState();
  if (made) return html`<${Address} url=${made.url} close=${close} />`;
  const send = (f) =>
    post(path, { name: f.name, maxHours: Number(f.maxHours), startsPerDay: Number(f.startsPerDay), expiresAt: asTime(f.expires) }).then(
      (d) => {
        done();
        setMade(d);
      },
    );
  return html`<${Form} title=${text.wake} verb=${text.make} close=${close} send=${send} keep><p>${text.wakeNote}</p>
    <div class="pair"><${Field} label=${text.name}><input name="name" maxlength="100" required autofocus /><//>
      <${Field} label=${text.expires}><input type="datetime-local" name="expires" required
        value=${localInput(Date.now() + 30 * 24 * hour)} /><//></div>
    <div class="pair"><${Field} label=${text.hours}><input type="number" name="maxHours" min="1" max="72" value="8" required /><//>
      <${Field} label=${text.starts}><input type="number" name="startsPerDay" min="1" max="24" value="3" required /><//></div><//>`;
}

export const endOverride = (id) => call("DELETE", "overrides/" + id);
export const endWakeLink = (id) => call("DELETE", "wake-links/" + id);
export const heldState = (o) => (o.action === "force_on" ? "running" : "stopped");
