package report

// Remedy is a command that would change the verdict, and what it does.
type Remedy struct {
	Act
	Command string `json:"command"`
	Effect  string `json:"effect"`
	// Cost is what is lost or left behind; empty for nothing.
	Cost string `json:"cost,omitempty"`
}

// Remedy is the act with its command and what it does.
func (a Act) Remedy(effect string) Remedy {
	return Remedy{Act: a, Command: a.CommandLine(), Effect: effect}
}

// Act is what a remedy does. Two remedies with the same act are the same remedy.
type Act struct {
	Action Action `json:"action"`
	Target Ref    `json:"-"`
	// Policy is that of a second delete, by its name.
	Policy string `json:"-"`
	// NoWait: the command does not wait for the end of a second delete.
	NoWait bool `json:"-"`
	// Finalizer is the one to take off, and Flags are those that lift what speaks
	// against that, or that name what remembers what is to be brought back.
	Finalizer, Flags string `json:"-"`
	// User is whose rights are shown.
	User string `json:"-"`
	// Kinds are those of which everything is listed, as kubectl takes them.
	Kinds string `json:"-"`
	// Patch is the one to send.
	Patch string `json:"-"`
	// Minutes are waited for at most, or are how far back to go.
	Minutes int `json:"-"`
	// Revision is how far back to go, in place of minutes.
	Revision int64 `json:"-"`
}

// Action is a kind of act.
type Action string

// Looks reports whether an act changes nothing.
func (a Action) Looks() bool {
	switch a {
	case Explain, Describe, ShowWriters, ShowConditions, ShowNode, ShowLogs, ShowRights, ShowBackends, ShowDefinitions, ShowKinds, AwaitEnd:
		return true
	default:
		return false
	}
}

// The actions. Each says what it is done to, which is the target unless it says
// something else.
const (
	// Explain, Describe and Edit are the commands of these names.
	Explain  Action = "Explain"
	Describe Action = "Describe"
	Edit     Action = "Edit"
	// ShowWriters, ShowConditions and ShowNode show a part of an object: who wrote
	// what of it, its conditions, and the node of a pod.
	ShowWriters    Action = "ShowWriters"
	ShowConditions Action = "ShowConditions"
	ShowNode       Action = "ShowNode"
	// ShowLogs shows what a pod says.
	ShowLogs Action = "ShowLogs"
	// ShowRights shows what the user may do in the namespace of the target.
	ShowRights Action = "ShowRights"
	// ShowBackends shows what is behind the services of the namespace of the target.
	ShowBackends Action = "ShowBackends"
	// ShowDefinitions lists the definitions, and ShowKinds all objects of the kinds, or those in
	// the namespace of the target.
	ShowDefinitions Action = "ShowDefinitions"
	ShowKinds       Action = "ShowKinds"
	// AwaitEnd waits until an object has gone.
	AwaitEnd Action = "AwaitEnd"
	// ScaleUp starts one replica of a workload.
	ScaleUp Action = "ScaleUp"
	// RestartControllers restarts kube-controller-manager.
	RestartControllers Action = "RestartControllers"
	// Delete is a plain delete, DeleteAgain one of an object that is being deleted,
	// under another policy, and ForceDelete one that asks no node.
	Delete      Action = "Delete"
	DeleteAgain Action = "DeleteAgain"
	ForceDelete Action = "ForceDelete"
	// Unregister deletes the registration of an API or of webhooks.
	Unregister Action = "Unregister"
	// StopConverting takes its conversion webhook from a definition.
	StopConverting Action = "StopConverting"
	// TakeOff removes a finalizer.
	TakeOff Action = "TakeOff"
	// DropOwners removes all owner references.
	DropOwners Action = "DropOwners"
	// SendPatch sends a JSON patch.
	SendPatch Action = "SendPatch"
	// BringBack restores what is gone since some minutes, of the namespace of the target, or
	// of all.
	BringBack Action = "BringBack"
	// SaveLost keeps that in a backup, and restores nothing.
	SaveLost Action = "SaveLost"
)
