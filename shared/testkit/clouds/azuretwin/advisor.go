package azuretwin

// AddAdvice adds recommendations of Advisor: id and properties, as the Resource Graph writes them.
func (c *Cloud) AddAdvice(rows ...map[string]any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rows {
		r["type"] = "microsoft.advisor/recommendations"
		c.advices = append(c.advices, r)
	}
}

// adviceRows are Advisor's recommendations. The Resource Graph shows none without the permission to read them.
func (c *Cloud) adviceRows() []map[string]any {
	if !c.isAllowed("microsoft.advisor/recommendations/read") {
		return nil
	}
	return c.advices
}
