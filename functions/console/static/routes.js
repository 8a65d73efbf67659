// The screens by their addresses. Each is a module that is fetched when it is first opened. One of its policies opens it.
// A screen with a name has an entry in the navigation.
const load = {
  overview: () => import("./screens/overview.js"),
  resources: () => import("./screens/resources.js"),
  resource: () => import("./screens/resource.js"),
  groups: () => import("./screens/groups.js"),
  group: () => import("./screens/group.js"),
  schedules: () => import("./screens/schedules.js"),
  schedule: () => import("./screens/schedule.js"),
  activity: () => import("./screens/activity.js"),
  overrides: () => import("./screens/overrides.js"),
  clouds: () => import("./screens/clouds.js"),
  cloud: () => import("./screens/cloud.js"),
  connect: () => import("./screens/connect.js"),
  people: () => import("./screens/people.js"),
  roles: () => import("./screens/roles.js"),
  audit: () => import("./screens/audit.js"),
  notifications: () => import("./screens/notifications.js"),
  costs: () => import("./screens/costs.js"),
  savings: () => import("./screens/savings.js"),
  anomalies: () => import("./screens/anomalies.js"),
  budgets: () => import("./screens/budgets.js"),
};

const list = (id, name, area, policies) => ({ path: new RegExp(`^/${id}$`), id, to: "/" + id, name, area, policies, load: load[id] });
const record = (id, policies, module) => ({ path: new RegExp(`^/${id}/(?<id>[^/]+)$`), id, policies, load: module });

export const areas = ["Operate", "Money", "Manage"];
export const screens = [
  { ...list("overview", "Overview", "Operate", ["dashboards:read", "reports:read"]), path: /^\/?$/, to: "" },
  list("resources", "Resources", "Operate", ["resources:read"]),
  record("resources", ["resources:read"], load.resource),
  list("groups", "Groups", "Operate", ["resource-groups:read"]),
  record("groups", ["resource-groups:read"], load.group),
  list("schedules", "Schedules", "Operate", ["schedules:read"]),
  record("schedules", ["schedules:read"], load.schedule),
  list("overrides", "Overrides", "Operate", ["overrides:read"]),
  list("activity", "Activity", "Operate", ["actions:read"]),
  list("costs", "Costs", "Money", ["reports:read"]),
  list("anomalies", "Anomalies", "Money", ["reports:read"]),
  list("budgets", "Budgets", "Money", ["budgets:read"]),
  list("savings", "Savings", "Money", ["reports:read"]),
  list("clouds", "Clouds", "Manage", ["cloud-accounts:read"]),
  { ...record("clouds", ["cloud-accounts:write"], load.connect), path: /^\/clouds\/new$/ },
  record("clouds", ["cloud-accounts:read"], load.cloud),
  list("people", "People", "Manage", ["users:read"]),
  list("roles", "Roles", "Manage", ["roles:read"]),
  list("audit", "Audit log", "Manage", ["audit-logs:read"]),
  list("notifications", "Notifications", "Manage", ["notifications:read"]),
];
