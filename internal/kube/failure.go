package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/manifest"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// UnservedPathError is a 404 that does not come from the requested resource: the body is not a
// Status, or a Status about something else. The path is not served, or a proxy answered. It says
// nothing about the object: apierrors.IsNotFound does not hold for it.
//
// The upstream collector treats it as the absence of the object. (spec §17)
type UnservedPathError struct {
	// About is the requested object or list.
	About string
	// Answer is the beginning of the response.
	Answer string
}

// Error names the request.
func (e *UnservedPathError) Error() string {
	return fmt.Sprintf("%s: the server does not serve this path: %s", e.About, quote(e.Answer))
}

func isUnserved(err error) bool {
	_, ok := errors.AsType[*UnservedPathError](err)
	return ok
}

// UnexpectedAnswerError is a successful response with unexpected content: a page of a proxy,
// another kind, truncated text.
type UnexpectedAnswerError struct {
	About, What string
}

// Error names the request and the response.
func (e *UnexpectedAnswerError) Error() string {
	return fmt.Sprintf("%s: not the answer of an API server: %s", e.About, e.What)
}

// subject is the object or list of a request, for messages and for recognizing a 404 about it.
type subject struct {
	resource  object.Resource
	namespace string
	name      string
}

// String returns `configmaps shop/settings`, or the parts of it that are set.
func (s subject) String() string {
	text := s.resource.GroupResource().String()
	switch {
	case s.name != "" && s.namespace != "":
		return text + " " + quoteName(s.namespace) + "/" + quoteName(s.name)
	case s.name != "":
		return text + " " + quoteName(s.name)
	case s.namespace != "":
		return text + " in " + quoteName(s.namespace)
	case s.resource.Name == "":
		return "the server"
	}
	return text
}

// quoteName quotes a name that contains special characters.
func quoteName(s string) string {
	if q := quote(s); q != `"`+s+`"` {
		return q
	}
	return s
}

// failure returns the error of an unsuccessful response and closes its body.
func failure(r request, response *http.Response) error {
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		text = nil // the code alone says enough
	}
	media, _, err := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if err != nil {
		media = ""
	}
	if status, ok := statusOf(media, text); ok {
		if response.StatusCode == http.StatusNotFound && !aboutSubject(status, r.about) {
			return &UnservedPathError{About: r.about.String(), Answer: status.Message}
		}
		status.Code = int32(response.StatusCode)
		return &apierrors.StatusError{ErrStatus: *status}
	}
	if response.StatusCode == http.StatusNotFound {
		return &UnservedPathError{About: r.about.String(), Answer: strings.TrimSpace(string(text))}
	}
	said := strings.TrimSpace(string(text))
	if said != "" {
		said = quote(said)
	} else {
		said = fmt.Sprintf("%d %s without a text", response.StatusCode, http.StatusText(response.StatusCode))
	}
	return apierrors.NewGenericServerResponse(response.StatusCode, r.verb, r.about.resource.GroupResource(), r.about.name, said, 0, true)
}

// statusOf decodes a Status from JSON or protobuf.
func statusOf(media string, text []byte) (*metav1.Status, bool) {
	var status metav1.Status
	switch media {
	case jsonType:
		if json.Unmarshal(text, &status) != nil {
			return nil, false
		}
	case protobufType:
		e, err := manifest.Open(text)
		if err != nil || e.Kind != (manifest.Kind{APIVersion: "v1", Kind: "Status"}) || status.Unmarshal(e.Raw) != nil {
			return nil, false
		}
		status.Kind, status.APIVersion = e.Kind.Kind, e.APIVersion
	default:
		return nil, false
	}
	return &status, status.Kind == "Status" && status.APIVersion == "v1" && status.Status == metav1.StatusFailure
}

// aboutSubject reports whether a 404 is about exactly the requested object: its reason is NotFound,
// its details name the object, and it was not synthesized from another response. A 404 of a list
// has no name to compare and is never about an object. (spec §17 step 3)
func aboutSubject(s *metav1.Status, about subject) bool {
	if s.Reason != metav1.StatusReasonNotFound || s.Details == nil || about.name == "" {
		return false
	}
	for _, cause := range s.Details.Causes {
		if cause.Type == metav1.CauseTypeUnexpectedServerResponse {
			return false
		}
	}
	return s.Details.Name == about.name && s.Details.Kind == about.resource.Name && s.Details.Group == about.resource.Group
}
