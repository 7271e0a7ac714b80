package health_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubectl-gc/kubectl-gc/internal/health"
	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

func TestSelects(t *testing.T) {
	labelled := func(kind, namespace, label string) *object.Object {
		return &object.Object{Ref: ref("v1", kind, namespace, "o"), Labels: object.LabelsOf(map[string]string{"is": label})}
	}
	is := func(label string) metav1.LabelSelector {
		return metav1.LabelSelector{MatchLabels: map[string]string{"is": label}}
	}
	all := metav1.LabelSelector{}
	bad := metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "is", Operator: "Like"}}}
	here := labelled("Namespace", "", "x")
	for name, c := range map[string]struct {
		namespaces, objects metav1.LabelSelector
		conditional         bool
		o, in               *object.Object
		takes, sure         bool
	}{
		"everything":                       {all, all, false, labelled("Pod", "shop", "a"), here, true, true},
		"everything, conditions":           {all, all, true, labelled("Pod", "shop", "a"), here, true, false},
		"the namespace":                    {is("x"), all, false, labelled("Pod", "shop", "a"), here, true, true},
		"another namespace":                {is("y"), all, false, labelled("Pod", "shop", "a"), here, false, true},
		"another namespace, conditions":    {is("y"), all, true, labelled("Pod", "shop", "a"), here, false, true},
		"a namespace not seen":             {is("x"), all, false, labelled("Pod", "shop", "a"), nil, true, false},
		"a namespace not seen, not needed": {all, all, false, labelled("Pod", "shop", "a"), nil, true, true},
		"the object":                       {all, is("a"), false, labelled("Pod", "shop", "a"), here, true, true},
		"another object":                   {all, is("b"), false, labelled("Pod", "shop", "a"), nil, false, true},
		"object, and not the namespace":    {is("y"), is("a"), false, labelled("Pod", "shop", "a"), here, false, true},
		"namespace, and not the object":    {is("x"), is("b"), false, labelled("Pod", "shop", "a"), here, false, true},
		"a namespace by itself":            {is("x"), all, false, here, nil, true, true},
		"not a namespace by itself":        {is("y"), all, false, here, nil, false, true},
		"no namespace":                     {is("y"), all, false, labelled("Node", "", "a"), nil, true, true},
		"no namespace, conditions":         {is("y"), all, true, labelled("Node", "", "a"), nil, true, false},
		"a selector that is none":          {bad, all, false, labelled("Pod", "shop", "a"), here, true, false},
		"an object selector that is none":  {all, bad, false, labelled("Node", "", "a"), nil, true, false},
		"none, but not the namespace":      {is("y"), bad, false, labelled("Pod", "shop", "a"), here, false, true},
	} {
		h := health.Webhook{Namespaces: c.namespaces, Objects: c.objects, Conditional: c.conditional}
		if takes, sure := h.Selects(c.o, c.in); takes != c.takes || sure != c.sure {
			t.Errorf("%s: takes %t, sure %t", name, takes, sure)
		}
	}
}
