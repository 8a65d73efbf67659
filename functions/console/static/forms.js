// Forms in a dialog: they send, and show a refusal at its place.
import { html, useState } from "./vendor.js";
import { Dialog, Fault } from "./parts.js";

const text = { cancel: "Cancel" };

// Form shows fields. send gets their values by name and returns a promise; the form closes when it is fulfilled,
// unless keep says that send shows something in its place.
export function Form({ title, verb, kind = "primary", close, send, keep, disabled, children }) {
  const [error, setError] = useState(),
    [busy, setBusy] = useState(false);
  const submit = (e) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    send(Object.fromEntries(new FormData(e.target))).then(keep ? null : close, (refusal) => {
      setError(refusal);
      setBusy(false);
    });
  };
  return html`<${Dialog} title=${title} close=${close}><form onSubmit=${submit}><div class="inside">
    ${children}${error && html`<${Fault} error=${error} />`}</div>
    <footer><button type="button" onClick=${close}>${text.cancel}</button>
      <button class=${kind} disabled=${busy || disabled}>${verb}</button></footer></form><//>`;
}

export const Field = ({ label, note, children }) =>
  html`<label class="field"><span>${label}</span>${children}${
    note &&
    html`<small>${note}
  </small>`
  }</label>`;

export const Choice = ({ label, name, options, value, set }) => html`<${Field} label=${label}><select name=${name}
  onChange=${set && ((e) => set(e.target.value))}>${options.map(
    ([k, shown]) => html`<option key=${k} value=${k} selected=${k === value}>${shown}</option>`,
  )}</select><//>`;

export const Tick = ({ label, name, checked, set }) => html`<label class="tickbox"><input type="checkbox" name=${name} checked=${checked}
  onChange=${set && ((e) => set(e.target.checked))} /><span>${label}</span></label>`;

// Sure asks before something is lost.
export const Sure = ({ title, verb, close, send, children }) => html`<${Form} title=${title} verb=${verb} kind="danger" close=${close}
  send=${send}><p>${children}</p><//>`;
