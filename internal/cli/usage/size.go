package usage

import (
	"fmt"
	"math"

	"k8s.io/apimachinery/pkg/api/resource"
)

// Size is a flag with a size in bytes, as Kubernetes writes quantities.
type Size int64

// String is empty for a flag that was not given.
func (q *Size) String() string {
	if *q == 0 {
		return ""
	}
	return resource.NewQuantity(int64(*q), resource.DecimalSI).String()
}

// Set takes 500M, 2Gi or a number of bytes.
func (q *Size) Set(text string) error {
	parsed, err := resource.ParseQuantity(text)
	if err != nil || parsed.Sign() <= 0 || parsed.Value() == math.MaxInt64 {
		return fmt.Errorf("%q is not a size like 500M or 2Gi", text)
	}
	*q = Size(parsed.Value())
	return nil
}

// Type is what help calls the value.
func (*Size) Type() string { return "size" }
