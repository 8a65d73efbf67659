package reports

import (
	"cmp"
	"context"
	"net/http"
	"slices"

	"lamplighter.dev/shared/api/identity"
	"lamplighter.dev/shared/api/rest"
	"lamplighter.dev/shared/domain/cost"
	"lamplighter.dev/shared/domain/report"
	"lamplighter.dev/shared/engine/table"
	"lamplighter.dev/shared/foundation/fault"
	"lamplighter.dev/shared/foundation/money"
	"lamplighter.dev/shared/people/teams"
)

const (
	teamReports = reports + "/teams"
	teamReport  = teamReports + "/{teamID}"
)

const shownBack = " The rules of /showback/rules split the costs that no team owns. Costs not covered by a rule " +
	"are Unassigned, whose teamID is null here and unassigned in a path. Teams and Unassigned add up to totalUSD. " +
	"The cost of a resource that several teams own is split evenly. A grant on teams or resources shows the direct " +
	"costs of its scope, without shares of unowned costs."

func (s *service) teamOperations(g *rest.Group) {
	missing := []int{http.StatusBadRequest, http.StatusNotFound}
	rest.Handle(g, rest.Op{
		ID: "listTeamCosts", Method: http.MethodGet, Path: teamReports, Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List costs by team",
		Description: "The most expensive first, Unassigned last. The current month unless other days are requested." +
			effective + shownBack + asked,
	}, s.listTeams)
	rest.Handle(g, rest.Op{
		ID: "listTeamTrends", Method: http.MethodGet, Path: teamReports + "/trends", Policy: reading, Scoped: true,
		Statuses: invalid,
		Summary:  "List cost trends by team",
		Description: "The last 30 days, 12 weeks or 12 months, including the current one, unless days are " +
			"requested. The most expensive teams are shown one by one, as many as limit says; all others together " +
			"are one entry with other true." +
			effective + shownBack + asked,
	}, s.teamTrends)
	rest.Handle(g, rest.Op{
		ID: "getTeamCosts", Method: http.MethodGet, Path: teamReport, Policy: reading, Scoped: true, Statuses: missing,
		Summary: "Get the costs of a team",
		Description: "By service, and by day. The current month unless other days are requested." + effective +
			shownBack + asked,
	}, s.getTeam)
	rest.Handle(g, rest.Op{
		ID: "listTeamResourceCosts", Method: http.MethodGet, Path: teamReport + "/resources", Policy: reading,
		Scoped: true, Statuses: missing,
		Summary: "List the costs of a team's resources",
		Description: "If several teams own a resource, its cost here is the team's share. Shares of unowned costs " +
			"are not included. The most expensive first unless sort_order says otherwise. The current month unless " +
			"other days are requested." +
			effective + asked,
	}, s.teamResources)
}

// TeamCost is the cost of a team. For Unassigned, sharedUSD is the amount that the teams took over, as a negative
// number.
type TeamCost struct {
	TeamID    *string `json:"teamID" doc:"Null is Unassigned"`
	Name      string  `json:"name"`
	DirectUSD string  `json:"directUSD" doc:"The cost of the resources that the team owns"`
	SharedUSD string  `json:"sharedUSD" doc:"The team's share of the costs that no team owns"`
	CostUSD   string  `json:"costUSD" doc:"Both together"`
}

// TeamCosts are the costs of all teams.
type TeamCosts struct {
	Basis
	Items    []TeamCost `json:"items"`
	FellBack []string   `json:"fellBack" doc:"Ids of proportional rules that split evenly on some day, as no team cost anything by itself"`
}

func (s *service) listTeams(ctx context.Context, in *report.Asked) (TeamCosts, error) {
	q, err := s.Question(ctx, in, report.ThisMonth, cost.Effective)
	if err != nil {
		return TeamCosts{}, err
	}
	sp, err := s.splitTeams(ctx, q, false)
	if err != nil {
		return TeamCosts{}, err
	}
	b, err := s.teamBasis(ctx, &q, sp)
	return TeamCosts{b, newTeamCosts(sp), append([]string{}, sp.fellBack...)}, err
}

// teamBasis returns the basis of a report of teams.
func (s *service) teamBasis(ctx context.Context, q *cost.Question, sp *teamSplit) (Basis, error) {
	out, err := s.importedBasis(ctx, q, &sp.answer)
	out.attribute(q, sp.answer.Attribution, sp.changed)
	return out, err
}

// newTeamCosts returns the cost of each team in cents. The teams add up to the total, each team's parts add up to the
// team, and the shared costs add up to the rounded total of the shared costs.
func newTeamCosts(sp *teamSplit) []TeamCost {
	ids := sp.inOrder()
	var direct, shared []money.Amount
	for _, id := range ids {
		c := sp.of[id]
		direct, shared = append(direct, money.Sum(c.direct...)), append(shared, money.Sum(c.shared...))
	}
	shown, shares := roundTeams(direct, shared)
	out := make([]TeamCost, len(ids))
	for i, id := range ids {
		out[i] = TeamCost{
			rest.Optional(id), sp.names.Of(cost.TeamDim, id), shown[i].Sub(shares[i]).Fixed(2), shares[i].Fixed(2),
			shown[i].Fixed(2),
		}
	}
	return out
}

// inOrder returns the team IDs by falling cost, with Unassigned last.
func (sp *teamSplit) inOrder() []string {
	ids := make([]string, 0, len(sp.of))
	for id := range sp.of {
		if id != "" {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	slices.SortStableFunc(ids, func(a, b string) int { return sp.of[b].sum().Cmp(sp.of[a].sum()) })
	return append(ids, "")
}

// TeamInput names a team. It is exported so that the framework sees its fields where it is embedded.
type TeamInput struct {
	TeamID string `path:"teamID" maxLength:"64" doc:"The team, or unassigned"`
}

// unassignedPath is the path segment of Unassigned.
const unassignedPath = "unassigned"

// team returns the ID of the team in a path. The caller must be able to see it. The empty ID is Unassigned.
func (s *service) team(ctx context.Context, in *TeamInput, within *cost.Within) (string, error) {
	if in.TeamID == unassignedPath {
		return "", nil
	}
	if !sees(within, in.TeamID) {
		return "", in.missing()
	}
	_, err := s.teams.Get(ctx, identity.CallerOrg(ctx), in.TeamID)
	if fault.Is(err, fault.NotFound) {
		err = in.missing()
	}
	return in.TeamID, err
}

func sees(within *cost.Within, teamID string) bool {
	return within == nil || slices.Contains(within.Teams.Teams, teamID)
}

func (in *TeamInput) missing() error {
	return fault.New(fault.NotFound, "team %.64q does not exist; for what no team owns ask for %s", in.TeamID,
		unassignedPath)
}

// splitTeam starts the split for the report of one team. The team and the rules take one round trip; if there are
// rules, the other teams take one more. For Unassigned the teams take one more.
func (s *service) splitTeam(ctx context.Context, in *TeamInput, q *cost.Question) (string, *teamSplit, error) {
	id := in.TeamID
	if id == unassignedPath {
		id = ""
	}
	if id != "" && !sees(q.Within, id) {
		return "", nil, in.missing()
	}
	saved, it, ok, err := s.rules.ListBeside(ctx, identity.CallerOrg(ctx),
		teams.Key(identity.CallerOrg(ctx), in.TeamID))
	if err != nil {
		return "", nil, err
	}
	sp := &teamSplit{names: report.Labels{cost.TeamDim: {}}}
	if q.Within == nil && q.Filter[cost.TeamDim] == nil && len(saved) > 0 {
		sp.rules = rulesOf(saved)
		sp.names, err = s.labels.Read(ctx, cost.TeamDim)
	}
	if ok && err == nil {
		var t teams.Team
		t, err = table.Decode[teams.Team](it)
		sp.names[cost.TeamDim][id], sp.changed = t.Name, t.DefinedAt()
	}
	if err != nil {
		return "", nil, err
	}
	return id, sp, s.findTeam(ctx, in, q, sp)
}

// findTeam returns an error if the team of a report does not exist. For Unassigned it reads when teams were changed.
func (s *service) findTeam(ctx context.Context, in *TeamInput, q *cost.Question, sp *teamSplit) (err error) {
	if in.TeamID == unassignedPath {
		sp.changed, err = s.definedAt(ctx, &cost.Question{Dims: []string{cost.TeamDim}, Within: q.Within})
		return err
	}
	if sp.names[cost.TeamDim][in.TeamID] == "" {
		return in.missing()
	}
	return nil
}

// ServiceCost is the cost of a service.
type ServiceCost struct {
	ServiceName string `json:"serviceName" example:"Amazon EC2"`
	CostUSD     string `json:"costUSD" example:"12.34"`
}

// TeamReport is the cost of a team, by service and by day.
type TeamReport struct {
	Basis
	TeamCost
	Services []ServiceCost `json:"services" doc:"The services that add up to directUSD"`
	Items    []TrendPoint  `json:"items" doc:"costUSD by day"`
}

type teamInput struct {
	TeamInput
	report.Asked
}

func (s *service) getTeam(ctx context.Context, in *teamInput) (TeamReport, error) {
	q, err := s.Question(ctx, &in.Asked, report.ThisMonth, cost.Effective)
	if err != nil {
		return TeamReport{}, err
	}
	id, sp, err := s.splitTeam(ctx, &in.TeamInput, &q)
	if err != nil {
		return TeamReport{}, err
	}
	q.Dims = []string{cost.ServiceDim}
	if sp, err = s.splitBy(ctx, q, true, sp); err != nil {
		return TeamReport{}, err
	}
	services := sp.services(id)
	if err = s.Balanced(ctx, sameDirect(services, sp.of[id])); err != nil {
		return TeamReport{}, err
	}
	out := newTeamReport(&q, sp, id, services)
	if out.Basis, err = s.teamBasis(ctx, &q, sp); err != nil {
		return TeamReport{}, err
	}
	out.TotalUSD = out.CostUSD
	return out, nil
}

// services returns the direct costs of a team by service, the largest first.
func (sp *teamSplit) services(id string) []cost.Row {
	at, n := map[string]int{}, slices.Index(sp.dims, cost.ServiceDim)
	var out []cost.Row
	for i := range sp.answer.Rows {
		r := &sp.answer.Rows[i]
		if r.Keys[0] != id {
			continue
		}
		of, had := at[r.Keys[n]]
		if !had {
			of = len(out)
			at[r.Keys[n]], out = of, append(out, cost.Row{Keys: []string{r.Keys[n]}})
		}
		out[of].Amount.Increase(&r.Amount)
	}
	slices.SortFunc(out, func(a, b cost.Row) int {
		return cmp.Or(b.Amount.Cmp(a.Amount), slices.Compare(a.Keys, b.Keys))
	})
	return out
}

// sameDirect returns an error if services do not add up to the direct cost of the team.
func sameDirect(services []cost.Row, c *teamDays) error {
	var sum money.Amount
	for i := range services {
		sum.Increase(&services[i].Amount)
	}
	if direct := money.Sum(c.direct...); sum != direct {
		return fault.New(fault.Internal, "the services of a team add up to %s, not to %s", sum, direct)
	}
	return nil
}

// newTeamReport returns the report of a team without its Basis. Its figures equal those in the list of all teams.
func newTeamReport(q *cost.Question, sp *teamSplit, id string, services []cost.Row) TeamReport {
	shown := newTeamCosts(sp)[slices.Index(sp.inOrder(), id)]
	a := sp.answer
	a.Total, a.Days = money.MustParse(shown.CostUSD), sp.of[id].days()
	out := TeamReport{TeamCost: shown, Services: []ServiceCost{}}
	direct := money.MustParse(out.DirectUSD)
	sums := make([]money.Amount, len(services))
	for i := range services {
		sums[i] = services[i].Amount
	}
	for i, c := range money.RoundPartsTo(sums, direct, 2) {
		label := report.Labels{}.Of(cost.ServiceDim, services[i].Keys[0])
		out.Services = append(out.Services, ServiceCost{label, c.Fixed(2)})
	}
	b := bucket("day", q.From, &a)
	out.Items = b.points(a.Total)
	return out
}

// narrowed returns a copy of filter that also requires a value of a dimension.
func narrowed(filter map[string][]string, dim, value string) map[string][]string {
	out := map[string][]string{dim: {value}}
	for d, values := range filter {
		if d != dim {
			out[d] = values
		}
	}
	return out
}

type teamResourcesInput struct {
	TeamInput
	report.Asked
	rest.Page
	rest.Sort[ResourceCost, costOrders]
}

func (s *service) teamResources(ctx context.Context, in *teamResourcesInput) (ResourceCosts, error) {
	q, err := s.Question(ctx, &in.Asked, report.ThisMonth, cost.Effective)
	if err != nil {
		return ResourceCosts{}, err
	}
	id, err := s.team(ctx, &in.TeamInput, q.Within)
	if err != nil {
		return ResourceCosts{}, err
	}
	q.Filter = narrowed(q.Filter, cost.TeamDim, id)
	return s.pageOfResources(ctx, q, in.Page, in.Sort)
}

// TeamPoint is the cost of one team in a day, week or month.
type TeamPoint struct {
	TeamID  *string `json:"teamID" doc:"Null is Unassigned, or with other true all other teams"`
	Name    string  `json:"name"`
	Other   bool    `json:"other"`
	CostUSD string  `json:"costUSD"`
}

// TeamTrendPoint is the cost of each team in a day, week or month.
type TeamTrendPoint struct {
	TrendPoint
	Teams []TeamPoint `json:"teams" doc:"They add up to costUSD"`
}

// TeamTrends is the trend of the teams' costs.
type TeamTrends struct {
	Basis
	Granularity string           `json:"granularity" enum:"day,week,month"`
	Items       []TeamTrendPoint `json:"items"`
}

type teamTrendInput struct {
	report.Asked
	Granularity string `query:"granularity" enum:"day,week,month" default:"day"`
	Limit       int    `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"How many teams are shown one by one"`
}

func (s *service) teamTrends(ctx context.Context, in *teamTrendInput) (TeamTrends, error) {
	q, err := s.Question(ctx, &in.Asked, report.Recent(in.Granularity), cost.Effective)
	if err != nil {
		return TeamTrends{}, err
	}
	sp, err := s.splitTeams(ctx, q, true)
	if err != nil {
		return TeamTrends{}, err
	}
	b := bucket(in.Granularity, q.From, &sp.answer)
	lines := sp.lines(in.Limit)
	days := make([][]money.Amount, len(lines))
	for i := range lines {
		days[i] = lines[i].days
	}
	out := TeamTrends{Granularity: in.Granularity, Items: make([]TeamTrendPoint, len(b.first))}
	if out.Basis, err = s.teamBasis(ctx, &q, sp); err != nil {
		return out, err
	}
	for i, p := range b.points(sp.answer.Total) {
		out.Items[i] = TeamTrendPoint{TrendPoint: p}
		for n, c := range b.parts(days, i, p.CostUSD) {
			point := lines[n].TeamPoint
			point.CostUSD = c.Fixed(2)
			out.Items[i].Teams = append(out.Items[i].Teams, point)
		}
	}
	return out, nil
}

// teamLine is one team of a trend, or the sum of all other teams.
type teamLine struct {
	TeamPoint
	days []money.Amount
}

// lines returns the teams with the largest costs and Unassigned one by one, and between them the sum of all other
// teams, if there are any.
func (sp *teamSplit) lines(limit int) []teamLine {
	var out []teamLine
	var others []money.Amount
	ids := sp.inOrder()
	for i, id := range ids {
		days := sp.of[id].days()
		if i >= limit && id != "" {
			others = report.AddDays(others, days)
			continue
		}
		if id == "" && others != nil {
			out = append(out, teamLine{TeamPoint{Name: "Other teams", Other: true}, others})
		}
		out = append(out, teamLine{TeamPoint{TeamID: rest.Optional(id), Name: sp.names.Of(cost.TeamDim, id)}, days})
	}
	return out
}
