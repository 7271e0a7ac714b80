package report

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
	Action Action `json:"action"`
	Target Ref    `json:"-"`
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
)
