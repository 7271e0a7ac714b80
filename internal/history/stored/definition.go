package stored

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// beta is the version that API servers use to store CRDs, although it is not served since 1.22.
const beta = "apiextensions.k8s.io/v1beta1"

// served converts a CRD to the served version. In v1beta1, fields that all versions share are
// outside the list of versions.
//
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go Convert_apiextensions_CustomResourceDefinitionSpec_To_v1_CustomResourceDefinitionSpec.
func served(raw []byte) ([]byte, error) {
	var o map[string]any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&o); err != nil {
		return nil, err
	}
	if o["apiVersion"] != beta {
		return raw, nil
	}
	spec, ok := o["spec"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("%s without a spec", beta)
	}
	o["apiVersion"] = object.CRD.APIVersion()
	versions, _ := spec["versions"].([]any)
	if len(versions) == 0 {
		versions = []any{map[string]any{"name": spec["version"], "served": true, "storage": true}}
		spec["versions"] = versions
	}
	delete(spec, "version")
	for was, now := range map[string]string{
		"validation": "schema", "subresources": "subresources", "additionalPrinterColumns": "additionalPrinterColumns", "selectableFields": "selectableFields",
	} {
		forAll, have := spec[was]
		delete(spec, was)
		for _, x := range versions {
			if v, ok := x.(map[string]any); ok && have && v[now] == nil {
				v[now] = forAll
			}
		}
	}
	for _, x := range versions {
		v, _ := x.(map[string]any)
		columns, _ := v["additionalPrinterColumns"].([]any)
		for _, c := range columns {
			rename(c, "JSONPath", "jsonPath")
		}
	}
	switch spec["preserveUnknownFields"] {
	case false:
		delete(spec, "preserveUnknownFields")
	case nil: // v1beta1 has another default
		spec["preserveUnknownFields"] = true
	}
	convert(spec["conversion"])
	return json.Marshal(o)
}

// convert converts the conversion of a CRD to the served version.
//
// Upstream: apiextensions-apiserver/pkg/apis/apiextensions/v1/conversion.go Convert_apiextensions_CustomResourceConversion_To_v1_CustomResourceConversion.
func convert(conversion any) {
	c, ok := conversion.(map[string]any)
	if !ok {
		return
	}
	if c["strategy"] == "Webhook" {
		webhook := map[string]any{"conversionReviewVersions": c["conversionReviewVersions"]}
		if client := c["webhookClientConfig"]; client != nil {
			webhook["clientConfig"] = client
		}
		c["webhook"] = webhook
	}
	delete(c, "webhookClientConfig")
	delete(c, "conversionReviewVersions")
}

// rename renames a field of an object. It is idempotent, because the objects may be shared.
func rename(o any, was, now string) {
	if fields, ok := o.(map[string]any); ok && fields[was] != nil {
		fields[now] = fields[was]
		delete(fields, was)
	}
}
