package wire

import (
	"cmp"
	"fmt"
	"io"

	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// unknownError is the code of an error that has none.
const unknownError = "UnknownError"

// readError returns the error that the service reports: a smithy.APIError with the code that the SDK reports for it.
func (s *Service) readError(resp *smithyhttp.Response, md *middleware.Metadata) error {
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return &smithy.DeserializationError{Err: fmt.Errorf("failed to copy error response body, %w", err)}
	}
	f, err := s.Protocol.decodeError(resp.Header, body)
	if err != nil {
		return &smithy.DeserializationError{Err: err}
	}
	if f.requestID != "" {
		awsmiddleware.SetRequestIDMetadata(md, f.requestID)
	}
	return &smithy.GenericAPIError{Code: cmp.Or(s.Errors[f.code], f.code, unknownError), Message: f.message}
}
