// The only module that sends requests. It holds the access token, and counts the requests of this tab, because all
// people and programs of an organization share 100 requests a minute.
import { signal, useEffect, useRef, useState } from "./vendor.js";

// The addresses of the API and of the console, of which the first may have a stage's prefix, such as /prod/.
export const apiBase = new URL("../../../", import.meta.url);
export const fileBase = new URL("./", import.meta.url).href;
export const consolePath = apiBase.pathname + "console";

export const session = signal(undefined); // undefined: unknown; null: signed out; else { user, tenants, token, org, policies }
export const wanted = signal(""); // what the sign-in asks for: "factor", "again" over a page whose session has expired, or ""
export const minute = signal({ at: 0, used: 0 }); // requests of this tab in the clock minute
export const offline = signal(false);
export const pausedUntil = signal(0); // time in ms at which requests resume; 0: they are not paused

const tabLimit = 90; // of the organization's 100; programs and other tabs need the rest
const backgroundLimit = 60; // requests that nobody waits for stop earlier
const readTries = 3;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

function takeRequest(background) {
  const at = Math.floor(Date.now() / 60_000);
  const used = minute.value.at === at ? minute.value.used : 0;
  if (used >= (background ? backgroundLimit : tabLimit)) return false;
  minute.value = { at, used: used + 1 };
  return true;
}

// nextMinute resolves when the next clock minute has begun. All waiting requests share the wait, and a random part keeps
// all tabs of an organization from resuming at the same moment.
let waiting;
function nextMinute() {
  waiting ||= (async () => {
    const ms = 60_050 - (Date.now() % 60_000) + Math.random() * 1500;
    pausedUntil.value = Date.now() + ms;
    await sleep(ms);
    pausedUntil.value = 0;
    waiting = undefined;
  })();
  return waiting;
}

// messageOf returns the message of an error. The interface has three shapes of errors.
function messageOf(body) {
  if (typeof body.error === "string") return body.error_description || body.error;
  return body.error?.message || "The service gave no reason.";
}

export class Failure extends Error {
  constructor(message, status, requestID) {
    super(message);
    this.status = status;
    this.requestID = requestID;
  }
}

const isAbort = (e) => e.name === "AbortError";

// isAnonymous reports whether a path is for people who are not signed in: a token, which may have ended, is not sent there.
const isAnonymous = (path) => /^auth\/(login|refresh|providers|saml\/initiate|\w+\/url)\b/.test(path);

// send makes one attempt. Requests under /auth/ use the cookie and no token; all others use the token and no cookie.
function send(method, path, { body, abort, key }) {
  const signsIn = path.startsWith("auth/");
  const headers = signsIn ? { "X-Lamplighter-Console": "1" } : {};
  if (session.value && !isAnonymous(path)) headers.Authorization = "Bearer " + session.value.token;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  return fetch(new URL(path, apiBase), {
    method,
    headers,
    signal: abort,
    body: body === undefined ? undefined : JSON.stringify(body),
    keepalive: signsIn, // the browser stores the cookie even if the page is reloaded meanwhile
    credentials: signsIn ? "same-origin" : "omit",
  });
}

// call sends a request until it is answered. A 401 is repeated once with a new token, a 429 after the pause. A lost
// connection is repeated for reads, and for writes with a key. heard gets the headers of the answer. Catalogues have an
// ETag, which the browser's own cache uses.
export async function call(method, path, options = {}, tries = 0) {
  const again = () => call(method, path, options, tries + 1);
  const signsIn = path.startsWith("auth/");
  if (!signsIn) await untilSignedIn();
  while (!signsIn && !takeRequest(options.background)) await nextMinute();
  let answer;
  try {
    answer = await send(method, path, options);
    offline.value = false;
  } catch (e) {
    if (isAbort(e)) throw e;
    offline.value = true;
    if ((method !== "GET" && !options.key) || tries >= readTries) throw new Failure("The service does not answer.", 0);
    await sleep(1000 * 2 ** tries);
    return again();
  }
  if (answer.status === 401 && tries === 0 && !isAnonymous(path)) {
    await refresh();
    if (!signsIn) await untilSignedIn();
    if (session.value && !wanted.value) return again();
  }
  if (answer.status === 429 && tries < readTries) {
    await nextMinute();
    return again();
  }
  options.heard?.(answer.headers);
  const isJSON = (answer.headers.get("Content-Type") || "").includes("json");
  const content = isJSON ? await answer.json() : {};
  if (!answer.ok) throw new Failure(messageOf(content), answer.status, answer.headers.get("X-Request-Id"));
  return options.file && !isJSON ? answer.blob() : content.data;
}

export const get = (path, options) => call("GET", path, options);
export const patch = (path, body) => call("PATCH", path, { body });
export const post = (path, body, options) => call("POST", path, { key: crypto.randomUUID(), ...options, body });

// change replaces or removes a record. Both may be sent twice, so they need no key.
export const change = (method, path, body) => call(method, path, { body });

// download saves the answer to a path as a file. A link cannot do it, because the token is in no cookie. A large export is
// a job, whose file has an address of its own.
export async function download(path, name) {
  let answer = await call("GET", path, { file: true });
  while (!(answer instanceof Blob) && !answer.downloadURL) {
    if (/failed|expired/.test(answer.status)) throw new Failure(answer.message || "The export failed.", 0);
    await sleep(3000);
    answer = await get(`reports/exports/${answer.jobID}`, { background: true });
  }
  const saved = document.createElement("a");
  saved.href = answer.downloadURL || URL.createObjectURL(answer);
  saved.download = name;
  saved.click();
  if (!answer.downloadURL) setTimeout(() => URL.revokeObjectURL(saved.href), 10_000);
}

// useGet reads a path, and reads it again when it changes. Until the answer comes, the last one is shown. An empty path
// reads nothing.
const answers = new Map(),
  maxAnswers = 200;

function remember(path, data) {
  answers.delete(path);
  answers.set(path, data);
  if (answers.size > maxAnswers) answers.delete(answers.keys().next().value);
}

export function useGet(path) {
  const [answer, setAnswer] = useState({}),
    [turn, setTurn] = useState(0),
    shown = useRef();
  useEffect(() => {
    if (!path) return undefined;
    const stop = new AbortController();
    get(path, { abort: stop.signal }).then(
      (data) => {
        remember(path, data);
        setAnswer({ path, turn, data });
      },
      (error) => isAbort(error) || setAnswer({ path, turn, error }),
    );
    return () => stop.abort();
  }, [path, turn]);
  const here = answer.path === path,
    busy = Boolean(path) && !(here && answer.turn === turn);
  if (here && answer.data !== undefined) shown.current = answer.data;
  const data = path ? (answers.get(path) ?? (busy ? shown.current : undefined)) : undefined;
  return {
    data,
    error: here && !busy ? answer.error : undefined,
    stale: busy && data !== undefined,
    reload: () => setTurn((n) => n + 1),
  };
}

// Signing in and out. Tabs tell each other, and never refresh at the same moment. Without BroadcastChannel they hear of it
// by an entry in the storage that is gone at once; a tab that hears nothing is told by its next request.
const news = { in: "signed in", out: "signed out" };
const tabs = typeof BroadcastChannel === "function" ? new BroadcastChannel("lamplighter") : undefined;
const newsKey = "lamplighter.news";
function tell(what) {
  if (tabs) return tabs.postMessage(what);
  localStorage.setItem(newsKey, what);
  return localStorage.removeItem(newsKey);
}
function hear(what) {
  if (what === news.out) end();
  if (what === news.in && (wanted.value || session.value === null)) refresh().catch(() => {});
}
if (tabs) tabs.onmessage = (e) => hear(e.data);
else addEventListener("storage", (e) => e.key === newsKey && hear(e.newValue));

function end() {
  answers.clear();
  wanted.value = "";
  session.value = null;
}

// untilSignedIn resolves when no session has expired, or the person has signed in again or out.
const untilSignedIn = () => new Promise((resolve) => {
  const stop = wanted.subscribe((now) => {
    if (now === "again") return;
    resolve();
    queueMicrotask(() => stop());
  });
});

// organizationOf returns the ID of the organization in which an access token works.
const organizationOf = (token) => JSON.parse(atob(token.split(".")[1].replaceAll("-", "+").replaceAll("_", "/"))).org;

// wait asks for the sign-in: over the page, if there is one.
function wait(why) {
  if (why === "again" && session.value) wanted.value = why;
  else end();
  if (why === "factor") wanted.value = why;
}

// begin uses new tokens. A new user, and an organization that another tab has chosen, have other data and policies.
async function begin(d) {
  if (!d.user) return wait(d.why);
  const before = session.value, org = organizationOf(d.accessToken), same = before?.user.id === d.user.id && before.org === org;
  if (!same) answers.clear();
  session.value = { user: d.user, tenants: d.tenants, token: d.accessToken, org, policies: same ? before.policies : undefined };
  wanted.value = "";
  if (session.value.policies) return undefined;
  const all = await call("GET", "permissions", {}, 1); // a refusal must not begin a refresh, which would wait for this one
  session.value = { ...session.value, policies: new Set(all.map((p) => p.policy)) };
  return undefined;
}

// refresh gets a new access token. A page that is reloaded during its refresh has spent the refresh token without seeing
// the answer; half a second later the cookie is the new one.
const refreshLock = "lamplighter-refresh";
let refreshing;
export function refresh() {
  const renew = () => call("POST", "auth/refresh", { body: {} });
  refreshing ||= navigator.locks
    .request(refreshLock, async () => {
      try {
        return await renew().catch(async (e) => {
          if (e.status !== 401) throw e;
          await sleep(500);
          return renew();
        });
      } catch (e) {
        if (e.status !== 401 && e.status !== 403) throw e;
        return { user: null, why: /second factor/i.test(e.message) && !session.value ? "factor" : "again" };
      }
    })
    .then(begin)
    .finally(() => {
      refreshing = undefined;
    });
  return refreshing;
}

// moveTo moves the session to another organization of the user.
export async function moveTo(tenantID) {
  await begin(await navigator.locks.request(refreshLock, () => call("POST", "auth/refresh", { body: { tenantID } })));
}

async function enter(path, fields) {
  await begin(await call("POST", path, { body: fields }));
  tell(news.in);
}
export const signIn = (fields) => enter("auth/login", fields);

// prove sends the second factor of a person whom a provider has signed in.
export const prove = (fields) => navigator.locks.request(refreshLock, () => enter("auth/refresh", fields));

export async function signOut() {
  await post("auth/logout", {}).catch(() => {}); // the session may have ended already
  tell(news.out);
  end();
}

export const can = (policy) => Boolean(session.value?.policies?.has(policy));

// follow polls a bulk action until it ends, less often the longer it takes, and reports its progress.
export async function follow(bulkActionID, report) {
  for (let wait = 900; ; wait = Math.min(wait * 1.5, 10_000)) {
    await sleep(document.hidden ? 15_000 : wait);
    const b = await get("actions/bulk/" + bulkActionID, { background: true });
    report(b);
    if (b.status === "completed" || b.status === "cancelled") return b;
  }
}
