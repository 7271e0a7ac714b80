package usage

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Size is a flag for a size in bytes, in the format of Kubernetes quantities.
type Size int64

// String returns the size; empty if the flag was not given.
func (q *Size) String() string {
	if *q == 0 {
		return ""
	}
	return resource.NewQuantity(int64(*q), resource.DecimalSI).String()
}

// Set accepts 500M, 2Gi or a number of bytes.
func (q *Size) Set(text string) error {
	parsed, err := resource.ParseQuantity(text)
	if err != nil || parsed.Sign() <= 0 || parsed.Value() == math.MaxInt64 {
		return fmt.Errorf("%q is not a size like 500M or 2Gi", text)
	}
	*q = Size(parsed.Value())
	return nil
}

// Type returns the type of the value in the help.
func (*Size) Type() string { return "size" }
