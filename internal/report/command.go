package report

import (
	"cmp"
	"strconv"
	"strings"
)

// CommandLine returns the command that does an act, safe to paste into a shell.
func (a Act) CommandLine() string { return "kubectl " + a.arguments() }

func (a Act) arguments() string {
	object, word := a.Target.argument(), a.Target.word()
	kind, name := ShellWord(strings.ToLower(a.Target.Kind)), ShellWord(a.Target.Name)
	namespace := " -n " + ShellWord(a.Target.Namespace)
	switch a.Action {
	case Explain:
		return "gc explain " + object
	case Describe:
		return "describe " + object
	case Edit:
		return "edit " + object
	case ShowWriters:
		return "get " + object + " -o jsonpath='{.metadata.managedFields}'"
	case ShowConditions:
		return "get " + object + " -o jsonpath='{.status.conditions}'"
	case ShowNode:
		return "get " + object + " -o wide"
	case ShowLogs:
		return "logs " + word
	case ShowRights:
		return "auth can-i --list" + namespace + " --as=" + ShellWord(a.User)
	case ShowBackends:
		return "get service,endpointslices,pods" + namespace
	case ShowDefinitions:
		return "get crd"
	case ShowKinds:
		if a.Target.Namespace == "" {
			namespace = " -A"
		}
		return "get " + ShellWord(a.Kinds) + namespace + " -o json"
	case AwaitEnd:
		return "wait --for=delete " + word + " --timeout=" + strconv.Itoa(a.Minutes) + "m"
	case ScaleUp:
		return "scale " + word + " --replicas=1"
	case RestartControllers:
		return "delete pod -n kube-system -l component=kube-controller-manager"
	case Delete:
		return "delete " + object
	case DeleteAgain:
		return "delete " + object + " --cascade=" + strings.ToLower(a.Policy) + flag(a.NoWait, "--wait=false")
	case ForceDelete:
		return "delete " + object + " --grace-period=0 --force"
	case Unregister:
		return "delete " + kind + " " + name
	case StopConverting:
		return "patch crd " + name + ` --type=merge -p '{"spec":{"conversion":{"strategy":"None","webhook":null}}}'`
	case TakeOff:
		return "gc remove-finalizer " + word + " " + ShellWord(a.Finalizer) + flag(a.Flags != "", a.Flags)
	case DropOwners:
		return "patch " + object + ` --type=merge -p '{"metadata":{"ownerReferences":null}}'`
	case SendPatch:
		return "patch " + object + " --type=json -p " + ShellWord(a.Patch)
	case SaveLost:
		a.Action = BringBack
		return a.arguments() + " --dry-run"
	case BringBack:
		since := "--since=" + strconv.Itoa(a.Minutes) + "m"
		if a.Revision != 0 {
			since = "--since-revision=" + strconv.FormatInt(a.Revision, 10)
		}
		since += flag(a.Flags != "", a.Flags)
		if a.Target.Name != "" {
			return "gc undo " + since + " " + word
		}
		return "gc undo " + since + cmp.Or(a.Target.inNamespace(), " -A")
	}
	return ""
}

// Gather returns the command that reads the kinds, as kubectl names them, for a dump.
func Gather(kinds []string) string {
	words := make([]string, len(kinds))
	for i, k := range kinds {
		words[i] = ShellWord(k)
	}
	return "kubectl get " + strings.Join(words, ",") + " -A -o json > more.json"
}

func flag(set bool, text string) string {
	if !set {
		return ""
	}
	return " " + text
}

// argument names an object for kubectl in two words: `pod web -n shop`.
func (r Ref) argument() string {
	return ShellWord(KubectlKind(r.APIVersion, r.Kind)) + " " + ShellWord(r.Name) + r.inNamespace()
}

// word names an object for kubectl in one word: `pod/web -n shop`.
func (r Ref) word() string { return ShellWord(r.ShortName()) + r.inNamespace() }

func (r Ref) inNamespace() string { return flag(r.Namespace != "", "-n "+ShellWord(r.Namespace)) }
