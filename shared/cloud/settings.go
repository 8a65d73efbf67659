package cloud

// SettingsChecker is a Conn whose account has settings in the place of credentials.
type SettingsChecker interface {
	// CheckSettings returns an error of class Invalid for a setting that the provider does not know. Connect ignores
	// such a setting, so that accounts that were stored with one stay connected.
	CheckSettings() error
}

// CheckSettings returns the error of the Conn's CheckSettings, or nil if it has none.
func CheckSettings(c Conn) error {
	if s, ok := c.(SettingsChecker); ok {
		return s.CheckSettings()
	}
	return nil
}

// CheckSettings returns the Conn's.
func (d discreet) CheckSettings() error { return d.s.hide(CheckSettings(d.conn)) }
