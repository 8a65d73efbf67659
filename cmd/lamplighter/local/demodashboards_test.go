package local

// checkDashboards reads the data of every preset dashboard. A widget whose partition the function does not declare has
// an error here, as it would have in AWS.
func (d *evaluatedDemo) checkDashboards() {
	var all struct{ Items []struct{ ID, Name string } }
	d.get("/dashboards", &all)
	if len(all.Items) < 4 {
		d.Fatalf("%d dashboards; want the four presets", len(all.Items))
	}
	for _, one := range all.Items {
		var got struct {
			Widgets []struct {
				Title     string
				Error     *string
				Forbidden bool
			}
		}
		d.get("/dashboards/"+one.ID+"/data", &got)
		for _, w := range got.Widgets {
			if w.Error != nil || w.Forbidden {
				d.Errorf("%s, %s: forbidden %v, error %v", one.Name, w.Title, w.Forbidden, w.Error)
			}
		}
	}
}
