package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/kubectl-gc/kubectl-gc/internal/object"
)

// Remedy is a command that would change the verdict, and its effect.
type Remedy struct {
	Act
	Command string `json:"command"`
	Effect  string `json:"effect"`
	// Cost is what is lost or left behind; empty for nothing.
	Cost string `json:"cost,omitempty"`
}

// Remedy returns the remedy with the command of the act.
func (a Act) Remedy(effect string) Remedy {
	return Remedy{Act: a, Command: a.CommandLine(), Effect: effect}
}

// Act is what a remedy does. Two remedies with the same act are the same remedy.
type Act struct {
	Action Action     `json:"action"`
	Target object.Ref `json:"-"`
	// Policy is the propagation policy of a second delete.
	Policy string `json:"-"`
	// NoWait makes the command of a second delete return at once.
	NoWait bool `json:"-"`
	// Finalizer is the finalizer to remove. Flags are the flags that lift its refusals, or that
	// name the history to restore from.
	Finalizer, Flags string `json:"-"`
	// User is the user to show the rights of.
	User string `json:"-"`
	// Kinds are the kinds to list, as kubectl accepts them.
	Kinds string `json:"-"`
	// Patch is the JSON patch to send.
	Patch string `json:"-"`
	// Minutes is the longest time to wait, or how far back to restore from.
	Minutes int `json:"-"`
	// Revision is how far back to restore from, instead of Minutes.
	Revision int64 `json:"-"`
}

// Action is a kind of act.
type Action string

// Looks reports whether an action only reads.
func (a Action) Looks() bool {
	switch a {
	case Explain, Describe, ShowWriters, ShowConditions, ShowNode, ShowLogs, ShowRights, ShowBackends, ShowDefinitions, ShowKinds, AwaitEnd:
		return true
	default:
		return false
	}
}

// The actions. Each applies to the target unless it says otherwise.
const (
	// Explain, Describe and Edit are the commands of these names.
	Explain  Action = "Explain"
	Describe Action = "Describe"
	Edit     Action = "Edit"
	// ShowWriters, ShowConditions and ShowNode show a part of an object: its managedFields, its
	// conditions, and the node of a pod.
	ShowWriters    Action = "ShowWriters"
	ShowConditions Action = "ShowConditions"
	ShowNode       Action = "ShowNode"
	// ShowLogs shows the logs of a pod.
	ShowLogs Action = "ShowLogs"
	// ShowRights shows what the user may do in the namespace of the target.
	ShowRights Action = "ShowRights"
	// ShowBackends shows the Services, EndpointSlices and pods in the namespace of the target.
	ShowBackends Action = "ShowBackends"
	// ShowDefinitions lists the CRDs. ShowKinds lists the objects of Kinds, in the namespace of the
	// target or in all.
	ShowDefinitions Action = "ShowDefinitions"
	ShowKinds       Action = "ShowKinds"
	// AwaitEnd waits until an object is gone.
	AwaitEnd Action = "AwaitEnd"
	// ScaleUp starts one replica of a workload.
	ScaleUp Action = "ScaleUp"
	// RestartControllers restarts kube-controller-manager.
	RestartControllers Action = "RestartControllers"
	// Delete is a plain delete. DeleteAgain deletes an object that is already being deleted, with
	// another policy. ForceDelete does not wait for the kubelet.
	Delete      Action = "Delete"
	DeleteAgain Action = "DeleteAgain"
	ForceDelete Action = "ForceDelete"
	// Unregister deletes the registration of an API or of webhooks.
	Unregister Action = "Unregister"
	// StopConverting removes the conversion webhook of a CRD.
	StopConverting Action = "StopConverting"
	// TakeOff removes a finalizer.
	TakeOff Action = "TakeOff"
	// DropOwners removes all owner references.
	DropOwners Action = "DropOwners"
	// SendPatch sends a JSON patch.
	SendPatch Action = "SendPatch"
	// BringBack restores the target, or what was deleted in its namespace or in all, since Minutes
	// or Revision.
	BringBack Action = "BringBack"
	// SaveLost keeps that in a backup, and restores nothing.
	SaveLost Action = "SaveLost"
	// DeleteAlone deletes an object of a deployer without what that has deployed. Suspend makes a later
	// delete keep that. The commands are those of the deployer.
	DeleteAlone Action = "DeleteAlone"
	Suspend     Action = "Suspend"
)

// CommandLine returns the command that does an act, safe to paste into a shell.
func (a Act) CommandLine() string { return "kubectl " + a.arguments() }

func (a Act) arguments() string {
	kind, name := ShellWord(strings.ToLower(a.Target.Kind)), ShellWord(a.Target.Name)
	between := " "
	if strings.HasPrefix(a.Target.Name, "-") { // as that of a ClusterRole may: it is no flag
		between = "/"
	}
	object := ShellWord(object.KubectlKind(a.Target.APIVersion, a.Target.Kind)) + between + name + inNamespace(a.Target)
	word := ShellWord(a.Target.ShortName()) + inNamespace(a.Target)
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
		return "gc undo " + since + cmp.Or(inNamespace(a.Target), " -A")
	}
	return ""
}

// Gather returns the command that reads the kinds, as kubectl names them, for a dump.
func (c Connection) Gather(kinds []string) string {
	return c.Command("kubectl get "+strings.Join(object.Mapped(kinds, ShellWord), ",")+" -A -o json") + " > more.json"
}

func flag(set bool, text string) string {
	if !set {
		return ""
	}
	return " " + text
}

func inNamespace(r object.Ref) string { return flag(r.Namespace != "", "-n "+ShellWord(r.Namespace)) }

// ShellWord quotes a text so that a shell reads it as one word, also at an interactive prompt,
// where more characters are special than in a script. Names are untrusted. (docs/adr/0031)
func ShellWord(text string) string {
	special := func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		digit := r >= '0' && r <= '9'
		return !letter && !digit && !strings.ContainsRune("-_./:=,@%+", r)
	}
	if text != "" && text[0] != '=' && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
