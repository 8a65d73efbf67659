package cost

// Workload is the monthly work of an installation.
type Workload struct {
	Title         string
	Organizations int
	Accounts      int // of each organization, with PerAccount resources in each
	PerAccount    int
	GroupSize     int // resources that are stopped and started together, each working day
	Users         int // of each organization
	Bar           int // the goal: at most so many US dollars a month
	Most          int // the limit until then, in US dollars a month: lower it when the cost falls
	// CostDays is the number of days in the middle of the month in which the workers of the hour and the night are
	// measured.
	CostDays int
	// Lumped measures all accounts but one as one account of the same total size, which is faster.
	Lumped bool
}

// Workloads are the columns of the table.
var Workloads = []Workload{
	{
		Title: "1,000 resources, 5 users", Organizations: 1, Accounts: 2, PerAccount: 500, GroupSize: 50, Users: 5,
		Bar: 4, Most: 4, CostDays: days,
	},
	{
		Title: "10,000 resources, 20 accounts, 2 actions a resource and working day, 50 users", Organizations: 1,
		Accounts: 20, PerAccount: 500, GroupSize: 50, Users: 50, Bar: 16, Most: 14, CostDays: 8,
	},
	{
		Title: "1,000 organizations of the first kind", Organizations: 1000, Accounts: 2, PerAccount: 500,
		GroupSize: 50,
		Users:     5, Bar: 1200, Most: 1150, CostDays: days,
	},
	{
		Title: "one of 500,000", Organizations: 1, Accounts: 500, PerAccount: 1000, GroupSize: 100, Users: 500,
		Bar:  450,
		Most: 385, CostDays: 2, Lumped: true,
	},
}

// The assumptions about a month, and about AWS.
const (
	days          = 30
	workingDays   = 21
	passesADay    = 4      // of discovery, of each account
	mailsAMonth   = 4      // a user
	perCallMs     = 4      // of an invocation, besides the items below and its waits
	perTripMs     = 5      // of a round trip to the table
	perCloudMs    = 250    // of a call to a cloud; the measurement waits for it
	perListMs     = 10_000 // of fetching the prices of a region
	perPasswordMs = 250    // of argon2id at a log-in, at 512 MB
	logLine       = 800    // bytes that Lambda itself logs of an invocation, as JSON
	accessLine    = 300    // bytes of the access log for a request, with the 26 that CloudWatch adds to a line
	callsPerStart = 50     // calls for each start of an environment; Lambda tells of fewer than 1 % starts
	answerBytes   = 4000   // of an answer, compressed
	alarms        = 13     // metrics that the alarms of infra/ are about, where the stage is prod: 10 elsewhere
	dashboards    = 1      // of infra/, where the stage is prod
	metrics       = 10     // of our own: those of the metric filters of template.yaml, and those of platform.Used
	metricsOfOp   = 5      // detailed metrics of an API operation
	hours         = days * 24
	minutes       = hours * 60
	priceRuns     = 5 // of pricesync, a night
	// renewalsADay is the number of updates of the costs of all resources in a large organization. One update serves
	// the imports of a minute, and the accounts that are due in one of six hours take some minutes.
	renewalsADay = 30
	// lists is the number of objects a month in the archive of an organization: actions, bulk actions, their chunks,
	// history.
	lists = 4
	// anchorShards is the largest number of objects with heads of organizations in a night of anchors. Two more are one
	// with the heads of the installation and the signed document.
	anchorShards = 16
)

// runs are the runs of each scheduled worker in a month, by its folder. They are the same for any number of
// organizations.
var runs = map[string]int{
	"sweeper": minutes, "evaluator": minutes, "scheduleddiscovery": minutes, "auditlinker": minutes, "mailer": minutes,
	"notifier": minutes,
	"archiver": hours, "organisationsync": hours, "anomalycheck": hours, "billingsync": hours, "exporter": hours,
	"recommender": hours,
	"pricesync":   days * priceRuns, "reminder": days, "auditanchor": days,
}

// eachMinute reports whether a scheduled worker runs each minute.
func eachMinute(worker string) bool { return runs[worker] == minutes }

// request is an operation with the number of its calls by a user on a working day.
type request struct {
	Method, Path string
	Times        int
}

// requests are the requests of a user on a working day: 180 requests, half of them lists, and an access token each 15
// minutes.
var requests = []request{
	{"GET", "/resources?limit=50", 40},
	{"GET", "/resources/summary", 12},
	{"GET", "/resources/{resourceID}", 20},
	{"GET", "/actions?limit=20", 25},
	{"GET", "/actions/bulk/latest", 20},
	{"GET", "/resource-groups", 15},
	{"GET", "/cloud-accounts", 8},
	{"GET", "/audit-logs?limit=50", 5},
	{"PUT", "/resource-groups/{groupID}", 2},
	{"POST", "/auth/refresh", 32},
	{"POST", "/auth/login", 1},
}

func (w Workload) resources() int { return w.Organizations * w.Accounts * w.PerAccount }

func (w Workload) users() int { return w.Organizations * w.Users }

// passes returns the number of discovery passes a month that collect no metrics.
func (w Workload) passes() int { return w.Organizations * w.Accounts * (passesADay - 1) * days }

// collections returns the number of discovery passes a month that collect the metrics of the day before.
func (w Workload) collections() int { return w.Organizations * w.Accounts * days }

// bulkPairs returns how often a month a group is stopped and started: each group on each working day.
func (w Workload) bulkPairs() int { return w.resources() / w.GroupSize * workingDays }

// requests returns the number of requests of an operation a month.
func (w Workload) requests(r request) int { return w.users() * r.Times * workingDays }
