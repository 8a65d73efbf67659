"use strict";
(() => {
  const methods = ["get", "post", "put", "patch", "delete"];
  const $ = (id) => document.getElementById(id);
  const base = location.href.replace(/\/docs\/?([?#].*)?$/, "");
  let doc, operations = [];

  // Everything is put on the page as text, never as markup.
  const el = (tag, props, ...children) => {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(props || {})) {
      if (k === "class") e.className = v; else if (k in e && k !== "list") e[k] = v; else e.setAttribute(k, v);
    }
    e.append(...children.flat().filter((c) => c !== null && c !== undefined && c !== ""));
    return e;
  };
  const prose = (text) => (text || "").split("`").map((part, i) => (i % 2 ? el("code", null, part) : part));

  const resolve = (s) => {
    for (let i = 0; s && s.$ref && i < 20; i++) s = s.$ref.slice(2).split("/").reduce((o, k) => (o || {})[k], doc);
    return s || {};
  };
  const refName = (s) => (s && s.$ref ? s.$ref.split("/").pop() : "");

  const typeOf = (schema) => {
    const s = resolve(schema), types = [].concat(s.type || []);
    const nullable = types.includes("null") ? " or null" : "";
    const main = types.find((t) => t !== "null");
    if (s.anyOf || s.oneOf) return (s.anyOf || s.oneOf).map(typeOf).join(" or ");
    if (main === "array") return "array of " + typeOf(s.items) + nullable;
    if (main === "object" && typeof s.additionalProperties === "object") return "map of " + typeOf(s.additionalProperties) + nullable;
    return (refName(schema) || main || "any") + (s.format && s.format !== "int64" ? " (" + s.format + ")" : "") + nullable;
  };

  const limits = (s) => {
    const out = [], say = (k, text) => { if (s[k] !== undefined) out.push(text + " " + s[k]); };
    if (s.enum) out.push("one of " + s.enum.join(", "));
    say("minimum", "at least"); say("maximum", "at most"); say("minLength", "length at least"); say("maxLength", "length at most");
    say("minItems", "items at least"); say("maxItems", "items at most"); say("pattern", "matches"); say("default", "default");
    return out.join("; ");
  };

  // inside finds the object whose fields are worth showing under a field: the object itself, or what an array or map holds.
  const inside = (schema) => {
    const s = resolve(schema);
    if (s.items) return inside(s.items);
    if (s.properties) return schema;
    return typeof s.additionalProperties === "object" ? inside(s.additionalProperties) : null;
  };

  const tree = (schema, path) => {
    const s = resolve(schema), props = Object.entries(s.properties || {});
    if (!props.length) return el("p", { class: "note" }, typeOf(schema), limits(s) ? " — " + limits(s) : "");
    return el("ul", { class: "schema" }, props.map(([name, p]) => {
      const below = inside(p), seen = below && path.includes(refName(below) || below);
      return el("li", null,
        el("span", { class: "name" }, name), " ", el("span", { class: "type" }, typeOf(p)), " ",
        (s.required || []).includes(name) ? el("span", { class: "must" }, "required") : "",
        el("div", { class: "note" }, prose([resolve(p).description, limits(resolve(p))].filter(Boolean).join(" — "))),
        below && !seen && path.length < 6 ? tree(below, path.concat(refName(below) || below)) : "");
    }));
  };

  const example = (schema, depth) => {
    const s = resolve(schema), type = [].concat(s.type || []).find((t) => t !== "null");
    if (s.examples && s.examples.length) return s.examples[0];
    if (s.default !== undefined) return s.default;
    if (s.enum) return s.enum[0];
    if (type === "array") return depth > 4 ? [] : [example(s.items, depth + 1)];
    if (type === "integer" || type === "number") return s.minimum || 1;
    if (type === "boolean") return true;
    if (type !== "object") return s.format === "date-time" ? "2026-01-31T09:00:00Z" : "string";
    const out = {};
    for (const [name, p] of Object.entries(s.properties || {})) {
      if (depth < 5 && ((s.required || []).includes(name) || !(s.required || []).length)) out[name] = example(p, depth + 1);
    }
    return out;
  };

  // timed puts times into a sample body in place of values such as "<in 2 hours>".
  const spans = { hour: 3600e3, day: 86400e3 };
  const timed = (sample) => JSON.parse(JSON.stringify(sample), (key, value) => {
    const span = typeof value === "string" && /^<in (\d+) (hour|day)s?>$/.exec(value);
    return span ? new Date(Date.now() + span[1] * spans[span[2]]).toISOString().slice(0, 19) + "Z" : value;
  });

  const quote = (s) => "'" + s.replace(/'/g, "'\\''") + "'";
  const curl = (o) => {
    const query = (o.op.parameters || []).filter((p) => p.in === "query" && p.required).map((p) => p.name + "=" + encodeURIComponent(example(p.schema, 0)));
    const lines = ["curl" + (o.method === "get" ? "" : " -X " + o.method.toUpperCase()) + " " + quote(base + o.path + (query.length ? "?" + query.join("&") : ""))];
    if (!o.public) lines.push("-H \"Authorization: Bearer $TOKEN\"");
    const media = ((o.op.requestBody || {}).content || {})["application/json"] || {};
    const body = media.example === undefined ? media.schema && example(media.schema, 0) : timed(media.example);
    if (body !== undefined) lines.push("-H 'Content-Type: application/json'", "-d " + quote(JSON.stringify(body)));
    return lines.join(" \\\n  ");
  };
  const copyable = (text) => {
    const button = el("button", { type: "button" }, "Copy");
    button.onclick = () => navigator.clipboard.writeText(text).then(() => { button.textContent = "Copied"; });
    return el("div", { class: "copy" }, el("pre", null, text), button);
  };

  const access = (o) => (o.public ? "public, no credential" : o.policy === "signed-in" ? "any signed-in caller" : o.policy);
  const parameters = (list) => el("table", null,
    el("tr", null, ["Name", "In", "Type", "What"].map((h) => el("th", null, h))),
    list.map((p) => el("tr", null,
      el("td", null, el("span", { class: "name" }, p.name), p.required ? el("div", { class: "must" }, "required") : ""),
      el("td", null, p.in), el("td", { class: "type" }, typeOf(p.schema)),
      el("td", null, prose([p.description, limits(resolve(p.schema))].filter(Boolean).join(" — "))))));

  const response = ([code, r]) => {
    const media = Object.entries(r.content || {})[0];
    return el("details", { open: code < "300" },
      el("summary", null, el("span", { class: code < "300" ? "ok" : "bad" }, code), " ", r.description || "", " ", el("span", { class: "note" }, media ? media[0] : "")),
      media && media[1].schema ? tree(media[1].schema, []) : "");
  };

  const show = (o) => {
    const body = Object.entries((o.op.requestBody || {}).content || {})[0];
    $("main").replaceChildren(
      el("h2", null, o.op.summary || o.id),
      el("div", { class: "route" }, el("span", { class: "method " + o.method }, o.method), o.path),
      el("div", { class: "badges" },
        el("span", { class: "badge" }, "needs ", el("b", null, access(o))), el("span", { class: "badge" }, o.id),
        o.op.deprecated ? el("span", { class: "badge bad" }, "deprecated") : ""),
      ...(o.op.description || "").split("\n\n").map((t) => el("p", null, prose(t))),
      el("h3", null, "Try it"), copyable(curl(o)),
      ...((o.op.parameters || []).length ? [el("h3", null, "Parameters"), parameters(o.op.parameters)] : []),
      ...(body ? [el("h3", null, "Body ", el("span", { class: "type" }, body[0])), body[1].schema ? tree(body[1].schema, []) : ""] : []),
      el("h3", null, "Answers"), ...Object.entries(o.op.responses || {}).map(response));
    $("main").scrollTop = 0;
    document.title = (o.op.summary || o.id) + " · Lamplighter API";
  };

  const overview = () => {
    const groups = new Map();
    for (const o of operations) groups.set(o.tag, (groups.get(o.tag) || 0) + 1);
    $("main").replaceChildren(
      el("h2", null, doc.info.title + " API"), ...(doc.info.description || "").split("\n\n").map((t) => el("p", null, prose(t))),
      el("p", null, "The same as a file: ", el("a", { href: "openapi.yaml" }, "openapi.yaml"), ", ", el("a", { href: "openapi.json" }, "openapi.json"), "."),
      el("h3", null, "Sign in"),
      copyable("TOKEN=$(curl -s '" + base + "/auth/login' -H 'Content-Type: application/json' \\\n  -d '{\"email\":\"you@example.com\",\"password\":\"…\",\"provider\":\"email\"}' | sed 's/.*\"accessToken\":\"\\([^\"]*\\).*/\\1/')"),
      el("h3", null, operations.length + " operations in " + groups.size + " groups"),
      el("ul", null, [...groups].map(([tag, n]) => el("li", null, tag, " ", el("span", { class: "note" }, String(n))))));
    document.title = "Lamplighter API";
  };

  const list = () => {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean), current = location.hash.slice(1);
    const nav = [];
    let tag = null;
    for (const o of operations) {
      if (!words.every((w) => o.text.includes(w))) continue;
      if (o.tag !== tag) nav.push(el("h2", null, tag = o.tag));
      const a = el("a", { href: "#" + o.id, title: o.method.toUpperCase() + " " + o.path },
        el("span", { class: "method " + o.method }, o.method), el("span", { class: o.op.deprecated ? "old" : "" }, o.op.summary || o.path));
      if (o.id === current) a.setAttribute("aria-current", "page");
      nav.push(a);
    }
    $("nav").replaceChildren(...(nav.length ? nav : [el("h2", null, "Nothing found")]));
  };

  const route = () => {
    const o = operations.find((p) => p.id === decodeURIComponent(location.hash.slice(1)));
    if (o) show(o); else overview();
    list();
  };

  const read = (d) => {
    doc = d;
    const order = (d.tags || []).map((t) => t.name);
    for (const [path, item] of Object.entries(d.paths || {})) {
      for (const method of methods.filter((m) => item[m])) {
        const op = item[method], policy = op["x-policy"] || "", tag = (op.tags || ["Service"])[0];
        operations.push({ path, method, op, policy, tag, id: op.operationId, public: policy === "public",
          text: [method, path, op.summary, op.operationId, policy, tag].join(" ").toLowerCase() });
      }
    }
    const rank = (o) => (order.indexOf(o.tag) + order.length + 1) % (order.length + 1);
    operations = operations.map((o, i) => [o, i]).sort((a, b) => rank(a[0]) - rank(b[0]) || a[1] - b[1]).map(([o]) => o);
    $("version").textContent = d.info.version;
    route();
  };

  addEventListener("hashchange", route);
  addEventListener("keydown", (e) => {
    if (e.key === "/" && document.activeElement !== $("search")) { e.preventDefault(); $("search").focus(); }
  });
  $("search").addEventListener("input", list);
  fetch(base + "/openapi.json").then((r) => (r.ok ? r.json() : Promise.reject(new Error("status " + r.status)))).then(read)
    .catch((e) => $("main").replaceChildren(el("p", null, "The interface description could not be read: " + e.message)));
})();
