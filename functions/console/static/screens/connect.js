// Connecting a cloud account: what to prepare in the cloud, and then its credentials.
import { html, useState } from "../vendor.js";
import { post, useGet } from "../api.js";
import { Answer, Card, Fault, go, Page, Tabs, Tag, toast, withParameters } from "../parts.js";
import { Field, Tick } from "../forms.js";

const text = {
  title: "Connect a cloud account",
  back: "Clouds",
  provider: "Provider",
  how: "How Lamplighter signs in",
  recommended: "recommended",
  prepare: "Prepare in the cloud",
  nothing: "There is nothing to prepare.",
  externalID: "External id, which the role must demand",
  step: "Step",
  copy: "Copy",
  copied: "Copied",
  open: "Open the prepared template in the cloud",
  account: "The account",
  name: "Name",
  id: "Account, project or subscription id",
  idNote: "Leave it empty if the credentials say it.",
  write: "Lamplighter may start and stop resources",
  credentials: "Credentials are verified before they are stored. They are stored encrypted and never shown again.",
  connect: "Connect",
  connecting: "Verifying…",
  connected: "Connected. The first discovery is under way.",
};
const providers = [
  ["aws", "AWS"],
  ["azure", "Azure"],
  ["gcp", "Google Cloud"],
  ["kubernetes", "Kubernetes"],
  ["simulated", "Simulated"],
];

const copy = (s) => navigator.clipboard.writeText(s).then(() => toast(text.copied));

const Step = (command, i) => html`<li key=${i}><header><b>${text.step} ${i + 1}</b><button type="button" class="quiet"
  onClick=${() => copy(command)}>${text.copy}</button></header><pre tabindex="0">${command}</pre></li>`;

function Prepare({ o, m }) {
  const link = m.quickCreateURL?.startsWith("https://") && m.quickCreateURL;
  return html`<${Card} title=${text.prepare}>${o.externalID && html`<p>${text.externalID}: <code>${o.externalID}</code></p>`}
    ${link && html`<p><a href=${link} target="_blank" rel="noreferrer">${text.open}</a></p>`}
    ${m.commands.length === 0 && !link ? html`<p class="none">${text.nothing}</p>` : html`<ol
      class="steps">${m.commands.map(Step)}</ol>`}<//>`;
}

// Secret is a field of a credential. What has several lines is pasted into an area.
function Secret({ name }) {
  const isLong = /json|config|certificate/i.test(name),
    isSecret = /secret|token|password|key$/i.test(name);
  return html`<${Field} label=${name}>${
    isLong
      ? html`<textarea name=${"secret." + name} rows="5" required autocomplete="off" spellcheck="false" />`
      : html`<input name=${"secret." + name} type=${isSecret ? "password" : "text"} required autocomplete="off" spellcheck="false" />`
  }<//>`;
}

function bodyOf(form, provider, m) {
  const f = Object.fromEntries(new FormData(form));
  const credentials = Object.fromEntries(m.credentials.map((c) => [c, f["secret." + c]]));
  return {
    provider,
    name: f.name,
    authMethod: m.authMethod,
    permissionLevel: f.write ? "read_write" : "read_only",
    credentials,
    ...(f.id && { cloudAccountID: f.id }),
  };
}

function Account({ provider, m }) {
  const [error, setError] = useState(),
    [busy, setBusy] = useState(false);
  const send = (e) => {
    e.preventDefault();
    setBusy(true);
    setError(undefined);
    post("cloud-accounts", bodyOf(e.target, provider, m)).then(
      (a) => {
        toast(text.connected);
        go("/clouds/" + a.id, true);
      },
      (refusal) => {
        setBusy(false);
        setError(refusal);
      },
    );
  };
  return html`<${Card} title=${text.account}><form class="stack" onSubmit=${send}>
    <div class="pair"><${Field} label=${text.name}><input name="name" required maxlength="100" /><//>
      <${Field} label=${text.id} note=${text.idNote}><input name="id" /><//></div>
    ${m.credentials.map((c) => html`<${Secret} key=${m.authMethod + c} name=${c} />`)}
    <${Tick} name="write" label=${text.write} />
    ${m.credentials.length > 0 && html`<small>${text.credentials}</small>`}${error && html`<${Fault} error=${error} />`}
    <div class="acts"><button class="primary" disabled=${busy}>${busy ? text.connecting : text.connect}</button></div></form><//>`;
}

export default function Connect({ search }) {
  const params = new URLSearchParams(search),
    asked = params.get("provider"),
    provider = providers.some(([p]) => p === asked) ? asked : "aws";
  const read = useGet(`cloud-accounts/${provider}/onboarding`),
    set = (changes) => go("/clouds/new" + withParameters(search, changes), true);
  return html`<${Page} title=${text.title} back=${{ to: "/clouds", name: text.back }} />
    <div class="filters"><${Tabs} label=${text.provider} value=${provider} options=${providers}
      set=${(v) => set({ provider: v, method: "" })} /></div>
    <div class="body"><${Answer} read=${read} lines=${8}>${(o) => {
      const methods = o.methods.filter((x) => x.authMethod !== "oauth"); // it leads through the API's own pages
      const m = methods.find((x) => x.authMethod === params.get("method")) || methods.find((x) => x.recommended) || methods[0];
      return html`<div class="half"><${Card} title=${text.how}><fieldset><legend class="sr">${text.how}</legend>${methods.map(
        (x) => html`
          <label class="tickbox" key=${x.authMethod}><input type="radio" name="method" checked=${x === m}
            onChange=${() => set({ method: x.authMethod })} /><span>${x.title} ${x.recommended && html`<${Tag}
              of=${text.recommended} />`}</span>
          </label>`,
      )}</fieldset><//><${Prepare} o=${o} m=${m} /></div>
        <div class="half"><${Account} key=${provider} provider=${provider} m=${m} /></div>`;
    }}<//></div>`;
}
