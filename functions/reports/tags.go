package reports

import "lamplighter.dev/shared/api/rest"

func (s *service) tagOperations(*rest.Group) {}
