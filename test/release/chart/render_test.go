// Package chart compares what the chart installs with what kustomize installs, and
// both with the types of Kubernetes.
package chart

import (
	"path"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

const (
	deploy   = "../../../deploy"
	chartDir = deploy + "/helm/kubectl-gc"
)

// objects are those of a rendering by what identifies them.
type objects map[string]map[string]any

// rendered is what helm installs into the namespace kubectl-gc.
func rendered(values map[string]any) (objects, error) {
	loaded, err := loader.Load(chartDir)
	if err != nil {
		return nil, err
	}
	release := common.ReleaseOptions{Name: "any", Namespace: "kubectl-gc", Revision: 1, IsInstall: true}
	merged, err := util.ToRenderValues(loaded, values, release, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	files, err := engine.Engine{Strict: true}.Render(loaded, merged)
	if err != nil {
		return nil, err
	}
	all := objects{}
	for name, text := range files {
		if path.Ext(name) != ".yaml" {
			continue
		}
		if err := all.add(text); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// kustomized is what `kubectl apply -k` installs.
func kustomized(dir string) (objects, error) {
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), dir)
	if err != nil {
		return nil, err
	}
	text, err := built.AsYaml()
	if err != nil {
		return nil, err
	}
	all := objects{}
	return all, all.add(string(text))
}

// add adds the objects of a file of several.
func (o objects) add(text string) error {
	for document := range strings.SplitSeq("\n"+text, "\n---\n") {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(document), &object); err != nil {
			return err
		}
		if object == nil {
			continue
		}
		u := unstructured.Unstructured{Object: object}
		o[strings.Join([]string{u.GetAPIVersion(), u.GetKind(), u.GetNamespace(), u.GetName()}, " ")] = object
	}
	return nil
}

// render is rendered where it has to succeed.
func render(t *testing.T, values map[string]any) objects {
	t.Helper()
	all, err := rendered(values)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// one is the only object of a kind.
func (o objects) one(t *testing.T, kind string) map[string]any {
	t.Helper()
	var found []map[string]any
	for _, object := range o {
		if object["kind"] == kind {
			found = append(found, object)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d objects of kind %s, want one", len(found), kind)
	}
	return found[0]
}

// at is the value below an object's fields.
func at(t *testing.T, object map[string]any, fields ...string) any {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(object, fields...)
	if err != nil || !found {
		t.Fatalf("no %s: %v", strings.Join(fields, "."), err)
	}
	return value
}
