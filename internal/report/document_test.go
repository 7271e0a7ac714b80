package report_test

import (
	"reflect"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubectl-gc/kubectl-gc/internal/report"
)

func documents() []runtime.Object {
	return []runtime.Object{&report.Plan{}, &report.Explanation{}, &report.Diagnosis{}, &report.Graph{}, &report.Run{}, &report.Undo{}, &report.Risk{}, &report.Checkup{}, &report.Lost{}, &report.Version{}, &report.Backups{}}
}

// fill sets every field below v to something that is not zero, so that a field
// that is added later cannot be forgotten by the copy.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.String:
		v.SetString("\xff" + strconv.Itoa(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("a document has a field of kind " + v.Kind().String())
	}
}

func TestDeepCopyIsEqualAndShareless(t *testing.T) {
	for _, doc := range documents() {
		n := 0
		fill(reflect.ValueOf(doc).Elem(), &n)
		c := doc.DeepCopyObject()
		if diff := cmp.Diff(doc, c); diff != "" {
			t.Errorf("%T: copy differs (-want +got):\n%s", doc, diff)
		}
		assertShareless(t, reflect.TypeOf(doc).String(), reflect.ValueOf(doc), reflect.ValueOf(c))
	}
}

func assertShareless(t *testing.T, path string, a, b reflect.Value) {
	t.Helper()
	switch a.Kind() {
	case reflect.Pointer:
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
		}
		assertShareless(t, path, a.Elem(), b.Elem())
	case reflect.Struct:
		for i := range a.NumField() {
			assertShareless(t, path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i))
		}
	case reflect.Slice:
		if a.Pointer() == b.Pointer() {
			t.Errorf("%s is shared", path)
		}
		for i := range a.Len() {
			assertShareless(t, path+"[]", a.Index(i), b.Index(i))
		}
	}
}

func TestDeepCopyKeepsNilAndEmptyApart(t *testing.T) {
	p := &report.Plan{Effects: []report.Effect{}}
	c := p.DeepCopyObject().(*report.Plan)
	if c.Effects == nil || c.Gaps != nil {
		t.Errorf("effects %#v, gaps %#v; want an empty list and nil", c.Effects, c.Gaps)
	}
}

func TestSchemeKnowsTheDocuments(t *testing.T) {
	if got := report.GroupVersion.String(); got != report.APIVersion {
		t.Fatalf("group version %q differs from %q", got, report.APIVersion)
	}
	for _, doc := range documents() {
		gvks, _, err := report.Scheme.ObjectKinds(doc)
		if err != nil {
			t.Fatal(err)
		}
		want := report.GroupVersion.WithKind(reflect.TypeOf(doc).Elem().Name())
		if len(gvks) != 1 || gvks[0] != want {
			t.Errorf("%T is %v, want %v", doc, gvks, want)
		}
		doc.GetObjectKind().SetGroupVersionKind(want)
		if got := doc.GetObjectKind().GroupVersionKind(); got != want {
			t.Errorf("%T carries %v, want %v", doc, got, want)
		}
	}
}
