package main

// Stage is the settings that differ between two deployments of the service.
type Stage struct {
	Name      string
	LogDays   float64  // how long logs are kept
	Errors    float64  // faults in five minutes that raise an alarm
	Wide      bool     // alarms beyond the ten that are free, and a dashboard
	Operators []string // receivers of alarms: addresses of mails, or of hooks that begin with https://
	Reserved  bool     // concurrent executions are reserved and capped, which needs the account's quota of 1,000
	Canary    bool     // new versions take over slowly, and not at all when alarms are raised meanwhile
	Domain    Domain
}

// Domain is the name under which clients reach the API. It comes from the CDK context ("domain", "certificate"),
// because it belongs to the deploying organization. Without it API Gateway's own address is used.
type Domain struct{ Name, Certificate string }

var stages = []Stage{
	{Name: "dev", LogDays: 7, Errors: 5},
	{Name: "staging", LogDays: 30, Errors: 5},
	{Name: "prod", LogDays: 365, Errors: 1, Reserved: true, Wide: true, Canary: true},
}
